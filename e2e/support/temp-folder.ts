import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder of the test's own. */
export const makeTempFolder = (): string => mkdtempSync(join(tmpdir(), 'analytics-outbox-'));

/** Removes it, patiently: a browser that was just killed may still be letting go of its files. */
export const removeTempFolder = (path: string): void =>
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
