import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, vi } from 'vitest';
import type { Tracker } from '../../src/client/analytics.js';
import type { DirectOptions } from '../../src/client/types.js';
import { FAKED, settle } from './settle.js';

interface Seen {
  url: string;
  body: Record<string, unknown>;
  headers: Record<string, string>;
  keepalive: boolean;
}

type Reply = number | 'hang' | 'fail';

const LINES = ['log', 'info', 'warn', 'error', 'debug', 'groupCollapsed', 'groupEnd'] as const;

/** A service behind `fetch`, that answers by a rule. */
export const createFakeService = () => {
  const service = {
    seen: [] as Seen[],
    rule: (() => 200) as (seen: Seen) => Reply,
    events: (): unknown[] => service.seen.map(({ body }) => body.event ?? body.user_id),
    fetch: (async (url: string, init: RequestInit) => {
      const seen: Seen = {
        url,
        body: JSON.parse(init.body as string) as Seen['body'],
        headers: init.headers as Record<string, string>,
        keepalive: init.keepalive === true,
      };
      service.seen.push(seen);
      const reply = service.rule(seen);
      if (reply === 'fail') throw new TypeError('Failed to fetch');
      if (reply === 'hang') {
        await new Promise((_, reject) => {
          init.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      }
      return { status: reply, text: async () => '', headers: { get: () => null } };
    }) as unknown as typeof fetch,
  };
  return service;
};

type Listening = [EventTarget, Parameters<EventTarget['addEventListener']>];

/** A fresh page for each test: storage, visibility, listeners and modules. */
export const pageEach = () => {
  const listening: Listening[] = [];
  const failures: unknown[] = [];
  const note = (error: unknown) => failures.push(error);

  beforeEach(() => {
    vi.useFakeTimers({ toFake: [...FAKED], now: Date.UTC(2026, 0, 1) });
    vi.stubGlobal('indexedDB', new IDBFactory());
    vi.stubGlobal('scheduler', { postTask: async (callback: () => void) => callback() });
    vi.resetModules();
    localStorage.clear();
    forget();
    world.show();
    for (const target of [window, document] as EventTarget[]) {
      const add = target.addEventListener.bind(target);
      vi.spyOn(target, 'addEventListener').mockImplementation((...args) => {
        listening.push([target, args]);
        add(...args);
      });
    }
    for (const method of LINES) {
      vi.spyOn(console, method).mockImplementation(() => undefined);
    }
    process.on('unhandledRejection', note);
  });

  afterEach(async () => {
    await settle();
    process.off('unhandledRejection', note);
    for (const [target, args] of listening.splice(0)) target.removeEventListener(...args);
    vi.restoreAllMocks();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    const [failure] = failures.splice(0);
    if (failure) throw failure;
  });

  const see = (state: DocumentVisibilityState) => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  };

  /** What the scripts of one page share. */
  const forget = () => {
    delete (globalThis as Record<symbol, unknown>)[Symbol.for('analytics-outbox consent')];
  };

  const world = {
    /** A tracker of a page that has just loaded our script. */
    load: async (): Promise<Tracker> => {
      const { createTracker } = await import('../../src/client/analytics.js');
      const { anyWay } = await import('../../src/client/any-way.js');
      return createTracker(anyWay);
    },
    options: (parts: Partial<DirectOptions> = {}): DirectOptions => ({
      baseUrl: 'https://in.test',
      token: 'secret-token',
      project: 'shop',
      channel: 'web',
      ...parts,
    }),
    show: () => see('visible'),
    hide: () => see('hidden'),
    /** Tab close or navigation. */
    leave: () => {
      window.dispatchEvent(new Event('pagehide'));
      see('hidden');
    },
    comeBack: () => {
      window.dispatchEvent(new Event('pageshow'));
      see('visible');
    },
    goOnline: () => window.dispatchEvent(new Event('online')),
    /** The page is dead: nothing of it runs any more. The next `load` is another page's. */
    kill: () => {
      vi.clearAllTimers();
      for (const [target, args] of listening.splice(0)) target.removeEventListener(...args);
      vi.resetModules();
      forget();
      window.dispatchEvent(new Event('pageshow'));
      see('visible');
    },
    linesLogged: (): number =>
      LINES.reduce((sum, method) => sum + vi.mocked(console[method]).mock.calls.length, 0),
  };
  return world;
};
