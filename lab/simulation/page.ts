import type { Analytics } from './client.js';
import type { Disk } from './disk.js';
import type { Storage } from './indexed-db.js';
import type { Network } from './network.js';
import type { Dice } from '../random.js';
import type { Timeline } from './timeline.js';

/** The real code as one function of the globals it sees. */
export type Product = (globals: Record<string, unknown>) => { createAnalytics: () => Analytics };

export const GLOBALS = [
  'globalThis',
  'window',
  'document',
  'navigator',
  'location',
  'localStorage',
  'indexedDB',
  'IDBKeyRange',
  'fetch',
  'setTimeout',
  'clearTimeout',
  'requestIdleCallback',
  'setInterval',
  'MutationObserver',
  'Date',
  'performance',
  'Math',
  'crypto',
  'console',
] as const;

interface Effects {
  name: string;
  product: Product;
  timeline: Timeline;
  disk: Disk;
  storage: Storage;
  network: Network;
  dice: Dice;
  /** The clock of the user's device, in milliseconds since 1970. */
  clock: () => number;
  isOnline: () => boolean;
  /** Site data is blocked. */
  isShelfBlocked: boolean;
  /** localStorage is full. */
  isShelfFull: () => boolean;
  hasIdleCallback: boolean;
  onThrow: (error: unknown) => void;
  /** The page died in the middle of a task. */
  onDeath: () => void;
  onShelf: (key: string, before: string | undefined, value: string | undefined) => void;
  onConsole: (line: string) => void;
}

type Listener = (event: Record<string, unknown>) => void;

const createTarget = () => {
  const listeners = new Map<string, Listener[]>();
  return {
    addEventListener: (type: string, listener: Listener) => {
      listeners.set(type, [...(listeners.get(type) ?? []), listener]);
    },
    removeEventListener: (type: string, listener: Listener) => {
      listeners.set(
        type,
        (listeners.get(type) ?? []).filter((one) => one !== listener),
      );
    },
    dispatch: (type: string, event: Record<string, unknown> = {}) => {
      for (const listener of listeners.get(type) ?? []) listener(event);
    },
  };
};

/** One page of a browser, in which the real code runs. */
export const createPage = (effects: Effects) => {
  const { name, timeline, disk, storage, network, dice, clock, onThrow } = effects;
  let state: 'running' | 'frozen' | 'dead' = 'running';
  /** Tasks that wait until the frozen page goes on. */
  let backlog: (() => void)[] = [];
  /** The page dies after this many more effects on the world. */
  let effectsLeft = Infinity;
  let visibility: 'visible' | 'hidden' = 'visible';
  let timers = 0;
  const cleared = new Set<number>();
  const documentTarget = createTarget();
  const windowTarget = createTarget();

  /** Counts an effect on the world. False once the page is dead, so that nothing it does has an effect. */
  const acts = (): boolean => {
    if (state === 'dead') return false;
    if (effectsLeft-- > 0) return true;
    state = 'dead';
    effects.onDeath();
    return false;
  };

  const run = (work: () => void): void => {
    if (state === 'dead') return;
    if (state === 'frozen') return void backlog.push(work);
    try {
      work();
    } catch (error) {
      onThrow(error);
    }
  };

  const user = {
    name,
    state: () => state,
    task: (ms: number, work: () => void) => timeline.after(ms, () => run(work)),
    acts,
  };

  const setTimer = <Given extends unknown[]>(
    work: (...given: Given) => void,
    ms = 0,
    ...given: Given
  ): number => {
    const id = ++timers;
    // In hidden pages timers run once a second.
    const delay = visibility === 'hidden' ? Math.ceil(ms / 1_000) * 1_000 : ms;
    user.task(delay, () => {
      if (!cleared.delete(id)) work(...given);
    });
    return id;
  };

  const repeat = (work: () => void, ms: number): void => {
    user.task(ms, () => {
      work();
      repeat(work, ms);
    });
  };

  const shelf = {
    getItem: (key: string) => {
      if (effects.isShelfBlocked) throw new Error('SecurityError');
      return disk.shelf.get(key) ?? null;
    },
    setItem: (key: string, value: string) => {
      if (effects.isShelfBlocked || effects.isShelfFull()) throw new Error('QuotaExceededError');
      if (!acts()) return;
      effects.onShelf(key, disk.shelf.get(key), value);
      disk.setShelf(key, value, { page: name, by: 'shelf' });
    },
    removeItem: (key: string) => {
      if (effects.isShelfBlocked) throw new Error('SecurityError');
      if (!disk.shelf.has(key) || !acts()) return;
      effects.onShelf(key, disk.shelf.get(key), undefined);
      disk.setShelf(key, undefined, { page: name, by: 'shelf' });
    },
  };
  const localStorage = new Proxy(shelf, {
    ownKeys: () => {
      if (effects.isShelfBlocked) throw new Error('SecurityError');
      return [...disk.shelf.keys()];
    },
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });

  class PageDate extends Date {
    constructor(value?: number | string) {
      super(value ?? clock());
    }
    static override now() {
      return clock();
    }
  }

  const requestIdleCallback = (work: () => void) => user.task(dice.between(1, 20), work);
  const idle = effects.hasIdleCallback ? { requestIdleCallback } : {};
  const document = {
    ...documentTarget,
    get visibilityState() {
      return visibility;
    },
    prerendering: false,
    readyState: 'complete',
    baseURI: 'https://shop.example/',
  };
  const opened = timeline.now();
  const location = { href: 'https://shop.example/', hostname: 'shop.example' };
  const say = (...line: unknown[]) => effects.onConsole(line.join(' '));

  const product = effects.product({
    globalThis: { URL, origin: 'https://shop.example', ...idle },
    window: windowTarget,
    document,
    location,
    navigator: {
      get onLine() {
        return effects.isOnline();
      },
      sendBeacon: (url: string, body: string) => acts() && network.beacon(user, url, body),
    },
    localStorage,
    indexedDB: storage.factoryOf(user),
    IDBKeyRange: storage.keyRange,
    fetch: (url: string, init: RequestInit) =>
      acts() ? network.fetch(user, url, init) : new Promise(() => undefined),
    setTimeout: setTimer,
    clearTimeout: (id?: number) => void (id && cleared.add(id)),
    ...idle,
    setInterval: repeat,
    // No simulated page calls `document.open()`.
    MutationObserver: class {
      observe() {}
    },
    Date: PageDate,
    performance: { now: () => timeline.now() - opened },
    Math: Object.assign(Object.create(Math) as Math, { random: dice.next }),
    crypto: {
      getRandomValues: (bytes: Uint8Array) => bytes.map(() => dice.between(0, 255)),
    },
    console: { log: say, info: say, warn: say, error: say, debug: say },
  });

  const see = (next: typeof visibility) => {
    if (visibility === next) return;
    visibility = next;
    documentTarget.dispatch('visibilitychange');
  };

  return {
    ...user,
    product,
    run,
    isHidden: () => visibility === 'hidden',
    hide: () => run(() => see('hidden')),
    show: () => run(() => see('visible')),
    /** The user leaves the page or closes it. Firefox sometimes skips `pagehide`. */
    depart: (skipsPagehide: boolean) =>
      run(() => {
        if (!skipsPagehide) windowTarget.dispatch('pagehide', { persisted: false });
        see('hidden');
      }),
    /** The page returns from the back/forward cache. */
    comeBack: () =>
      run(() => {
        windowTarget.dispatch('pageshow', { persisted: true });
        see('visible');
      }),
    resume: () => run(() => documentTarget.dispatch('resume')),
    online: () => run(() => windowTarget.dispatch('online')),
    hearOf: (key: string) => user.task(1, () => windowTarget.dispatch('storage', { key })),
    freeze: () => {
      if (state === 'running') state = 'frozen';
    },
    thaw: () => {
      if (state !== 'frozen') return;
      state = 'running';
      const waiting = backlog;
      backlog = [];
      for (const work of waiting) user.task(0, work);
    },
    /** No code of the page runs any more. */
    die: () => {
      state = 'dead';
      backlog = [];
    },
    /** Whether the page is to die soon. */
    isDoomed: () => effectsLeft < Infinity,
    /** The page dies after this many more effects on the world, in the middle of whatever it does then. */
    dieAfter: (effects: number) => {
      effectsLeft = effects;
    },
  };
};

export type Page = ReturnType<typeof createPage>;
