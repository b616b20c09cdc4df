import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { vi } from 'vitest';
import { createTracker } from '../../src/client/analytics.js';
import { FACTS } from '../../src/client/consent.js';
import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import type { Options } from '../../src/client/types.js';
import { createLocalStorage } from './local-storage.js';

const ORIGIN = 'https://shop.example';
export const DIRECT = {
  baseUrl: 'https://in.example.com',
  token: 't',
  project: 'shop',
  channel: 'web',
};
export const RELAY = { relay: '/a', project: 'shop', channel: 'web' };
/** The database of `DIRECT`. */
export const NAME = 'analytics-outbox https://in.example.com shop';

/** Has its members on its prototype, like a real one: an element's name can stand in for them. */
class FakeDocument extends EventTarget {
  #state = 'visible';
  get visibilityState(): string {
    return this.#state;
  }
  set visibilityState(state: string) {
    this.#state = state;
  }
}

/** A page of a site, with storage of its own: as much of it as the client reads. */
export const openSite = () => {
  Reflect.deleteProperty(globalThis, FACTS); // the consent of an earlier page
  const values = new Map<string, string>();
  const doc = new FakeDocument();
  const win = new EventTarget();
  const databases = new IDBFactory();
  vi.stubGlobal('indexedDB', databases);
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  vi.stubGlobal('document', doc);
  vi.stubGlobal('window', win);
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('location', new URL(ORIGIN));
  vi.stubGlobal('localStorage', createLocalStorage(values));
  const say = (target: EventTarget, type: string) =>
    EventTarget.prototype.dispatchEvent.call(target, new Event(type));
  const become = (visibilityState: string) => {
    Reflect.set(FakeDocument.prototype, 'visibilityState', visibilityState, doc);
    say(doc, 'visibilitychange');
  };
  return {
    /** What localStorage has. */
    values,
    doc,
    win,
    say,
    hide: () => become('hidden'),
    show: () => become('visible'),
    /** The keys of all that a database has. */
    stored: async (name: string): Promise<IDBValidKey[]> => {
      const open = databases.open(name);
      await new Promise((done) => (open.onsuccess = done));
      const keys = open.result.transaction('records').objectStore('records').getAllKeys();
      await new Promise((done) => (keys.onsuccess = done));
      open.result.close();
      return keys.result;
    },
  };
};

/** A tracker on the page, started with these options. */
export const track = (options: Partial<Options>) => {
  const { analytics } = createTracker(createDirectSend);
  analytics.init(options as Options);
  return { analytics };
};

export const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
