import { createLocalStorage } from '../test/support/local-storage.js';
import { client } from './client.js';
import type { Dice } from './dice.js';
import type { Disk } from './disk.js';
import type { Storage } from './indexed-db.js';
import type { Network } from './network.js';
import type { Timeline } from './timeline.js';

interface Effects {
  name: string;
  timeline: Timeline;
  disk: Disk;
  storage: Storage;
  network: Network;
  dice: Dice;
  /** The clock of the user's device, in milliseconds since 1970. */
  clock: () => number;
  isOnline: () => boolean;
  /** How many characters localStorage takes. */
  room: () => number;
  hasIdleCallback: boolean;
  /** The receiver recognises repeats, so nobody has to know what the page was sending when it died. */
  knowsRepeats: boolean;
  onThrow: (error: unknown) => void;
  /** The page has changed localStorage. */
  onShelf: (key: string, before: string | undefined) => void;
  /** The page died in the middle of a task. */
  onDeath: () => void;
}

const ORIGIN = 'https://shop.example';

/** One page of a browser, in which the real client runs. */
export const createPage = (effects: Effects) => {
  const { name, timeline, disk, storage, network, dice, clock } = effects;
  let state: 'running' | 'frozen' | 'dead' = 'running';
  /** Tasks that wait until the frozen page goes on. */
  let backlog: (() => void)[] = [];
  /** The page dies after this many more effects on the world. */
  let effectsLeft = Infinity;
  let timers = 0;
  const waiting = new Set<number>();
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), {
    visibilityState: 'visible',
    readyState: 'complete',
    prerendering: false,
    baseURI: `${ORIGIN}/`,
  });

  const isDead = () => state === 'dead';
  const isHidden = () => document.visibilityState === 'hidden';

  const die = () => {
    state = 'dead';
    backlog = [];
  };
  /** Counts an effect on the world. Returns whether the page lives to have it. */
  const acts = (): boolean => {
    if (isDead()) return false;
    if (effectsLeft-- > 0) return true;
    die();
    effects.onDeath();
    return false;
  };

  const run = (work: () => void): void => {
    if (isDead()) return;
    if (state === 'frozen') return void backlog.push(work);
    try {
      work();
    } catch (error) {
      effects.onThrow(error);
    }
  };
  const user = {
    name,
    isDead,
    task: (ms: number, work: () => void) => timeline.after(ms, () => run(work)),
  };

  const setTimer = (work: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): number => {
    const id = ++timers;
    waiting.add(id);
    // In hidden pages timers run once a second.
    user.task(isHidden() ? Math.ceil(ms / 1_000) * 1_000 : ms, () => {
      if (waiting.delete(id)) work(...given);
    });
    return id;
  };

  const shelf = createLocalStorage(disk.shelf, effects.room);
  const change =
    (how: 'setItem' | 'removeItem') =>
    (key: string, value = ''): void => {
      const before = disk.shelf.get(key);
      if ((how === 'removeItem' && before === undefined) || !acts()) return;
      shelf[how](key, value);
      disk.wrote(key, before);
      effects.onShelf(key, before);
    };
  const [setItem, removeItem] = [change('setItem'), change('removeItem')];
  const localStorage = new Proxy(shelf, {
    get: (target, member) => ({ getItem: target.getItem, setItem, removeItem })[member as string],
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
  const say = (...line: unknown[]) => effects.onThrow(`console: ${line.join(' ')}`);
  const opened = timeline.now();

  const { createAnalytics } = client({
    globalThis: { URL, origin: ORIGIN },
    window,
    document,
    location: new URL(ORIGIN),
    navigator: {
      get onLine() {
        return effects.isOnline();
      },
      sendBeacon: (url: string, body: string) => acts() && network.beacon(user, url, body),
    },
    localStorage,
    indexedDB: storage.factoryOf(user),
    IDBKeyRange: storage.keyRange,
    fetch: (url: string, init: RequestInit) => {
      const isNamed = effects.knowsRepeats || (init.keepalive && !isHidden());
      if (!isNamed && effectsLeft < Infinity) effectsLeft = 0;
      return acts() ? network.fetch(user, url, init) : new Promise(() => undefined);
    },
    setTimeout: setTimer,
    clearTimeout: (id: number) => waiting.delete(id),
    ...(effects.hasIdleCallback && { requestIdleCallback }),
    Date: PageDate,
    performance: { now: () => timeline.now() - opened },
    Math: Object.assign(Object.create(Math) as Math, { random: dice.next }),
    crypto: { getRandomValues: (bytes: Uint8Array) => bytes.map(() => dice.between(0, 255)) },
    console: { log: say, info: say, warn: say, error: say, debug: say },
  });

  const dispatch = (target: EventTarget, type: string, more = {}) =>
    target.dispatchEvent(Object.assign(new Event(type), more));
  const see = (visibilityState: 'visible' | 'hidden') => {
    if (document.visibilityState === visibilityState) return;
    document.visibilityState = visibilityState;
    dispatch(document, 'visibilitychange');
  };
  const freeze = () => {
    if (state === 'running') state = 'frozen';
  };
  const thaw = () => {
    if (state !== 'frozen') return;
    state = 'running';
    for (const work of backlog.splice(0)) user.task(0, work);
  };

  return {
    ...user,
    createAnalytics,
    run,
    isHidden,
    isRunning: () => state === 'running' && effectsLeft === Infinity,
    hide: () => run(() => see('hidden')),
    show: () => run(() => see('visible')),
    /** The user leaves the page or closes it. Firefox sometimes skips `pagehide`. */
    depart: (skipsPagehide: boolean) =>
      run(() => {
        if (!skipsPagehide) dispatch(window, 'pagehide', { persisted: false });
        see('hidden');
      }),
    /** The page is back from the back/forward cache. */
    comeBack: () => {
      thaw();
      run(() => {
        dispatch(window, 'pageshow', { persisted: true });
        see('visible');
      });
    },
    freeze,
    thaw,
    resume: () => {
      thaw();
      run(() => dispatch(document, 'resume'));
    },
    online: () => run(() => dispatch(window, 'online')),
    hearOf: (key: string) => user.task(1, () => dispatch(window, 'storage', { key })),
    /** No code of the page runs any more. */
    die,
    /** The page dies after this many more effects on the world, in the middle of whatever it does then. */
    dieAfter: (count: number) => void (effectsLeft = count),
  };
};

export type Page = ReturnType<typeof createPage>;
