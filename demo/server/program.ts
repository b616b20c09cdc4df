import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPortTaken, type PortChoice } from './listen.js';
import type { StartOptions } from './start-service.js';

export const DEFAULT_PORT = 8787;
/** The same folder seen from this file and from the built one: `demo/data`. */
const DEFAULT_DATABASE = fileURLToPath(new URL('../data/service.db', import.meta.url));

/** Reads the settings of the service from the environment; an empty variable counts as not given. */
export const readSettings = (env: NodeJS.ProcessEnv): StartOptions => ({
  ...readPort(env, 'PORT', DEFAULT_PORT),
  host: env['HOST'] || undefined,
  database: env['DATABASE'] ? resolve(env['DATABASE']) : DEFAULT_DATABASE,
  tokens: [env['TOKEN'] || 'demo-token'],
  faults: env['FAULTS'] === '1',
  ignoreKeys: env['IGNORE_KEYS'] === '1',
});

/** A port that was asked for is that or none; the usual one may give way to the next free one. */
export const readPort = (env: NodeJS.ProcessEnv, name: string, usual: number): PortChoice => {
  const text = env[name];
  if (!text) return { port: usual, nextFree: true };
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65_535)) throw new Error(`${name} must be a number from 0 to 65535, not "${text}"`);
  return { port, nextFree: false };
};

/** Says why a program could not start. */
export const failWith = (error: unknown, nameOf: (port: number) => string): void => {
  console.error(
    isPortTaken(error)
      ? `Port ${error.port} is taken. Set ${nameOf(error.port)} to another one.`
      : error instanceof Error
        ? error.message
        : error,
  );
  process.exitCode = 1;
};

export const sayIfMoved = (wanted: number, port: number): void => {
  if (wanted !== 0 && port !== wanted) console.log(`Port ${wanted} is taken, using ${port}`);
};
