import { build, type Rollup } from 'vite';
import type { Analytics } from '../src/client/types.js';

/** The globals that the client finds in its page. Everything else that it uses is the same for all pages. */
const GLOBALS = [
  ...['globalThis', 'window', 'document', 'navigator', 'location', 'localStorage', 'indexedDB'],
  ...['IDBKeyRange', 'fetch', 'setTimeout', 'clearTimeout', 'requestIdleCallback', 'Date'],
  ...['performance', 'Math', 'crypto', 'console'],
] as const;

type Client = (globals: Partial<Record<string, unknown>>) => { createAnalytics: () => Analytics };

/** The real client as a function of the globals that it sees: each page runs it anew. */
const bundleClient = async (): Promise<Client> => {
  const [built] = (await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry: 'src/index.ts', formats: ['iife'], name: 'client' },
    },
  })) as Rollup.RollupOutput[];
  const run = new Function(...GLOBALS, `${built!.output[0].code}\nreturn client;`) as (
    ...globals: unknown[]
  ) => ReturnType<Client>;
  return (globals) => run(...GLOBALS.map((name) => globals[name]));
};

export const client = await bundleClient();
