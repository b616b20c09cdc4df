import { DEFAULT_PORT as SERVICE_PORT, readPort, readSettings } from '../server/read-settings.js';
import type { DemoOptions } from './start-demo.js';

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
