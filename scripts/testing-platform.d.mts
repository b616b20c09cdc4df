import type { Plugin } from 'vite';

export declare const testingPlatform: (mark?: string) => Plugin;
