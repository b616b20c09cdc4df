import { DEFAULT_PORT as SERVICE_PORT, readSettings } from '../server/read-settings.js';
import type { DemoOptions, PortChoice } from './start-demo.js';

const PAGE_PORT = 8080;

/** Reads the settings of the demo from the environment; an empty variable counts as not given. */
export const readDemoSettings = (env: NodeJS.ProcessEnv): DemoOptions => {
  const { host, database, tokens } = readSettings({ ...env, PORT: '' });
  return {
    host,
    database,
    token: tokens[0]!,
    page: readPort(env, 'PORT', PAGE_PORT),
    service: readPort(env, 'SERVICE_PORT', SERVICE_PORT),
  };
};

/** A port that was asked for is that or none; the usual one may give way to the next free one. */
const readPort = (env: NodeJS.ProcessEnv, name: string, usual: number): PortChoice => {
  const text = env[name];
  if (!text) return { port: usual, nextFree: true };
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65_535)) {
    throw new Error(`${name} must be a number from 0 to 65535, not "${text}"`);
  }
  return { port, nextFree: false };
};
