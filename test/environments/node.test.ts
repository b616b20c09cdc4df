import 'fake-indexeddb/auto';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build, type Rolldown } from 'vite';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { callEverything, NOTHING_DONE, SETUP } from './call-everything.js';
import { watchGlobals } from './watch-globals.js';

const INDEX = '../../src/index.js';
const load = () => import(/* @vite-ignore */ INDEX) as Promise<typeof import('../../src/index.js')>;

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** Loads it, calls everything on both instances, and tells of each trace that was left. */
const tracesOf = async () => {
  const open = vi.spyOn(indexedDB, 'open');
  const traces = watchGlobals();
  const { analytics, createAnalytics } = await load();
  expect(traces()).toEqual([]);
  analytics.init(SETUP);
  for (const one of [analytics, createAnalytics(SETUP), createAnalytics()]) {
    expect(await callEverything(one)).toEqual(NOTHING_DONE);
    expect(one.status()).toMatchObject({
      storage: 'none',
      paused: 'no-page',
      waiting: 0,
      dropped: {},
    });
  }
  expect(open).not.toHaveBeenCalled();
  return traces();
};

describe('on a server', () => {
  it('leaves no trace when imported, set up and called', async () => {
    expect(await tracesOf()).toEqual([]);
  });

  it('leaves no trace where something calls itself a window', async () => {
    vi.stubGlobal('window', globalThis);
    expect(await tracesOf()).toEqual([]);
  });

  it('does not throw for a wrong set-up, which may come from the environment', async () => {
    const { analytics, createAnalytics } = await load();
    expect(() => analytics.init({} as never)).not.toThrow();
    expect(() => createAnalytics({ ...SETUP, baseUrl: '' })).not.toThrow();
  });
});

describe('in a worker', () => {
  it('leaves no trace where storage and network are there, but no document', async () => {
    vi.stubGlobal('self', globalThis);
    vi.stubGlobal('importScripts', () => undefined);
    vi.stubGlobal('addEventListener', () => undefined);
    vi.stubGlobal('location', new URL('https://site.example/worker.js'));
    expect(await tracesOf()).toEqual([]);
  });

  it('lets a thread end by itself', async () => {
    const code = await bundled(fileURLToPath(new URL('call-in-thread.ts', import.meta.url)));
    const worker = new Worker(code, { eval: true });
    const messages: unknown[] = [];
    worker.on('message', (message) => messages.push(message));
    const exitCode = await new Promise((resolve, reject) => {
      worker.once('exit', resolve);
      worker.once('error', reject);
    });
    expect({ exitCode, messages }).toEqual({ exitCode: 0, messages: [NOTHING_DONE] });
  });
});

const bundled = async (entry: string): Promise<string> => {
  const { output } = (await build({
    configFile: false,
    logLevel: 'error',
    build: { ssr: entry, write: false, rollupOptions: { output: { format: 'cjs' } } },
    ssr: { noExternal: true },
  })) as Rolldown.RolldownOutput;
  return output[0].code;
};
