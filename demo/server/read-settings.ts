import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StartOptions } from './start-service';

export const DEFAULT_PORT = 8787;
const DEFAULT_TOKEN = 'demo-token';

/** The same folder seen from this file and from the built one: `demo/data`. */
const DEFAULT_DATABASE = fileURLToPath(new URL('../data/service.db', import.meta.url));

/** Reads the settings of the service from the environment; an empty variable counts as not given. */
export function readSettings(env: NodeJS.ProcessEnv): StartOptions {
  return {
    ...readPort(env, 'PORT', DEFAULT_PORT),
    host: env['HOST'] || undefined,
    database: env['DATABASE'] ? resolve(env['DATABASE']) : DEFAULT_DATABASE,
    tokens: [env['TOKEN'] || DEFAULT_TOKEN],
    faults: env['FAULTS'] === '1',
    ignoreKeys: env['IGNORE_KEYS'] === '1',
  };
}

/** A port that was asked for is that or none; the usual one may give way to the next free one. */
export function readPort(env: NodeJS.ProcessEnv, name: string, usual: number) {
  const text = env[name];
  if (!text) return { port: usual, nextFree: true };
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65_535)) throw new Error(`${name} must be a number from 0 to 65535, not "${text}"`);
  return { port, nextFree: false };
}
