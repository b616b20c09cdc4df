import { nanoid } from 'nanoid';
import { mayFail } from '../util/may-fail.js';
import { inTime } from '../util/in-time.js';

/** What the snippet reads of the page and its browser. Nothing in here throws. */

let kept: Storage;

/**
 * WebKit gives `null` to a page that `window.close()` closes; what was read before still works
 * (https://bugs.webkit.org/show_bug.cgi?id=135330).
 */
const storage = (): Storage => (kept = localStorage ?? kept);

// localStorage is missing, blocked or full in some pages and modes.

export const getItem = (key: string): string | null => {
  const value: unknown = mayFail(() => storage().getItem(key));
  return typeof value === 'string' ? value : null;
};

export const removeItem = (key: string): void => mayFail(() => storage().removeItem(key));

/** Returns nothing if it is full or does not work. Then there is no value: the former one would be wrong. */
export const setItem = (key: string, value: string): boolean | undefined => {
  const isSet = mayFail(() => (storage().setItem(key, value), true));
  if (!isSet) removeItem(key);
  return isSet;
};

/** The time that is stored beside this key. One that is yet to come says nothing: the clock was set back. */
export const timeOf = (key: string): number => {
  const at = Math.ceil(Number(getItem(`${key} at`)));
  return at > Date.now() ? 0 : at;
};

/** Stores a value, and beside it the time since when it counts. */
export const setWord = (key: string, value: string, at: number): void => {
  setItem(key, value);
  setItem(`${key} at`, `${at}`);
};

/** The keys that begin with this. */
export const keysOfItems = (start = ''): string[] =>
  mayFail(() => Object.keys(storage()).filter((key) => key.startsWith(start))) ?? [];

/**
 * Reads a member of `document`, or of another object of the page's that elements can put names into. With
 * `<form name="title">` in the page, `document.title` is that form; the prototypes still have the real member. What is
 * no object is no element: a test may have set it. A method has to be called on its object:
 * `memberOf(document, 'querySelector').call(document, 'script')`.
 */
export const memberOf = <Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
): Target[Name] => {
  const own = target[name];
  const isElement = typeof own === 'object';
  return isElement ? Reflect.get(Object.getPrototypeOf(target) as Target, name, target) : own;
};

/** False on a server and in a worker, where the tracker does nothing. */
export const isPage = (): boolean => typeof document === 'object';

/** Whether the page is on the machine of a developer, as far as its host's name tells. */
export const isLocalHost = (): boolean =>
  /^(localhost|127\.0\.0\.1|\[::1\]|.+\.(localhost|test|local))$/.test(location.hostname);

/**
 * A frame with `srcdoc` has its page's `origin`, but no host in its location. Any other page has both, and a script may
 * have made `origin` a global of its own.
 */
export const pageOrigin = (): string => (location.host ? location : globalThis).origin;

/** The visitor's browser asks sites not to share data (https://w3c.github.io/gpc/). */
export const isGpcOn = (): boolean =>
  !!mayFail(
    () => (navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl,
  );

/** The browser says that there is no network. It may be wrong, so this is never a reason not to try. */
export const isOffline = (): boolean => mayFail(() => navigator.onLine) === false;

/** Gives the browser a POST to send, whatever becomes of the page. Returns nothing or false if the browser does not take it. */
export const beacon = (url: string, body: string): boolean | undefined =>
  mayFail(() => navigator.sendBeacon(url, body));

/** How long the browser may take to name the databases. */
const LISTING_MS = 1_000;

/** The names of the site's databases. Rejects where the browser does not tell them (Firefox before 126), or not in time. */
export const databaseNames = async (): Promise<string[]> =>
  (await inTime(indexedDB.databases(), LISTING_MS)).map(({ name }) => name!);

/** Deletes a database, once all pages have closed it. */
export const deleteDatabase = (name: string): unknown =>
  mayFail(() => indexedDB.deleteDatabase(name));

/** Without `crypto`, or with one that a script has broken, the id is less random: it is no secret. */
export const newId = (): string => mayFail(nanoid) ?? Math.random().toString(36).slice(2);

/**
 * Bytes of a text in UTF-8. Most texts are ASCII, and to encode one takes a sixth of a call's time. Where the page has
 * broken the encoder, the most that they can be.
 */
export const byteLength = (text: string): number =>
  /^[ -~]*$/.test(text)
    ? text.length
    : (mayFail(() => new TextEncoder().encode(text).length) ?? 3 * text.length);

/** Milliseconds since the epoch by the browser's clock: pages of a site share what goes by it. */
export const now = (): number => Date.now();

/** Milliseconds since the epoch: by the site's own clock, as long as that works. */
export const timeBy = (clock: (() => number) | undefined): number =>
  (clock && mayFail(() => +clock())) || now();

/** Milliseconds since the page was opened, whatever becomes of the clock. */
export const sinceOpened = (): number => mayFail(() => +performance.now()) || 0;

/**
 * Runs work outside of the zones of zone.js, in which each of our timers would make Angular check all its views
 * (https://angular.dev/api/core/ApplicationRef#isStable).
 */
export const outsideZone = <T>(work: () => T): T => {
  const { Zone } = globalThis as { Zone?: { root?: { run?: (work: () => T) => T } } };
  return Zone?.root?.run ? Zone.root.run(work) : work();
};
