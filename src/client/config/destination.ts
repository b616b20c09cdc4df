import type { Options } from '../types.js';

/**
 * Name of a destination's storage: endpoint and project, never the token, so that records made for one
 * destination cannot be sent to another. Its parts stand between spaces, and have none of their own.
 */
export const destinationName = (address: string, project: string): string =>
  ['analytics-outbox', address.replace(/\/+$/, ''), project].map(encodeURI).join(' ');

/** Whether consent to a project's records is remembered under this name, of whatever destination. */
export const isConsentKey = (key: string, project: string): boolean =>
  key.startsWith('analytics-outbox ') && key.endsWith(` ${encodeURI(project)} consent`);

/**
 * Where records go, and how. An address is one destination as a relay, and another as a service: only what
 * goes to a relay may be sent again.
 */
export const addressOf = ({ relay, baseUrl = '' }: Pick<Options, 'relay' | 'baseUrl'>): string =>
  relay ? `relay:${relay}` : baseUrl;
