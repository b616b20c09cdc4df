import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { vi } from 'vitest';
import { FACTS } from '../../src/client/consent.js';
import { createLocalStorage, lengthOf } from './local-storage.js';

export const SITE = 'https://shop.example';
export const BASE_URL = 'https://in.example.com';
export const TOKEN = 't';
export const DIRECT = { baseUrl: BASE_URL, token: TOKEN, project: 'shop', channel: 'web' };
export const RELAY = { relay: '/a', project: 'shop', channel: 'web' };
/** The database of `DIRECT`. */
export const NAME = `analytics-outbox ${BASE_URL} shop`;

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

interface Stored {
  until?: number;
  records?: { body: string }[];
}
/** All that a database has, read on a connection of its own. Of one that is deleted meanwhile there is nothing. */
const valuesOf = async (databases: IDBFactory, name: string): Promise<Stored[]> => {
  const open = databases.open(name);
  open.onupgradeneeded = () => open.transaction!.abort();
  await new Promise((done) => (open.onsuccess = open.onerror = done));
  if (open.error) return [];
  const request = open.result.transaction('records').objectStore('records').getAll();
  await new Promise((done) => (request.onsuccess = done));
  open.result.close();
  return request.result as Stored[];
};

/** Follows what listens to this from now on. Answers with the types of its events. */
export const watchListeners = (...targets: EventTarget[]): (() => string[]) => {
  const standing: [target: EventTarget, type: string, listener: unknown][] = [];
  for (const target of targets) {
    const placeOf = (type: string, listener: unknown) =>
      standing.findIndex(([on, of, is]) => on === target && of === type && is === listener);
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    Object.assign(target, {
      addEventListener: (type: string, listener: EventListener) => {
        if (placeOf(type, listener) < 0) standing.push([target, type, listener]);
        add.call(target, type, listener);
      },
      removeEventListener: (type: string, listener: EventListener) => {
        const at = placeOf(type, listener);
        if (at >= 0) standing.splice(at, 1);
        remove.call(target, type, listener);
      },
    });
  }
  return () => standing.map(([, type]) => type);
};

/** A page of a site, with storage of its own: as much of it as the client reads. */
export const openSite = () => {
  Reflect.deleteProperty(globalThis, FACTS); // the consent of an earlier page
  const values = new Map<string, string>();
  const doc = new FakeDocument();
  const win = new EventTarget();
  const databases = new IDBFactory();
  const names = databases.databases.bind(databases); // a test may take it from the page
  vi.stubGlobal('indexedDB', databases);
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  vi.stubGlobal('document', doc);
  vi.stubGlobal('window', win);
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('location', new URL(SITE));
  let room = Infinity;
  vi.stubGlobal(
    'localStorage',
    createLocalStorage(values, () => room),
  );
  const say = (target: EventTarget, type: string) =>
    EventTarget.prototype.dispatchEvent.call(target, new Event(type));
  const become = (visibilityState: string) => {
    Reflect.set(FakeDocument.prototype, 'visibilityState', visibilityState, doc);
    say(doc, 'visibilitychange');
  };
  return {
    /** What localStorage has. */
    values,
    /** The site fills its own localStorage, but for so many characters. */
    fill: (free = 0) => void (room = lengthOf(values) + free),
    /** The site makes room again. */
    empty: () => void (room = Infinity),
    databases,
    doc,
    win,
    say,
    hide: () => become('hidden'),
    show: () => become('visible'),
    /** The values of all that a database has: parcels and leases. */
    contents: (name: string) => valuesOf(databases, name),
    /** All records that the databases of the site have, as text, and the keys of localStorage. */
    traces: async (): Promise<string[]> => {
      const all = [...values.keys()];
      for (const { name } of await names()) {
        for (const value of await valuesOf(databases, name!))
          all.push(`${name}: ${JSON.stringify(value)}`);
      }
      return all;
    },
  };
};
