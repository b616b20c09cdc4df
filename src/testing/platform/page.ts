import { isGpcOn as isGpcOnHere } from '../../client/page.js';
import { mayFail } from '../../util/may-fail.js';

/** What an instance for tests has in place of `client/page.ts`: always a page, with a storage in memory. */

export { isLocalHost, memberOf, now, outsideZone, timeBy } from '../../client/page.js';

const kept = new Map<string, string>();

export const getItem = (key: string): string | null => kept.get(key) ?? null;

export const setItem = (key: string, value: string): boolean => !!kept.set(key, value);

export const removeItem = (key: string): unknown => kept.delete(key);

export const setWord = (key: string, value: string, at: number): void => {
  setItem(key, value);
  setItem(`${key} at`, `${at}`);
};

export const timeOf = (key: string): number => Math.ceil(Number(getItem(`${key} at`)));

export const keysOfItems = (start = ''): string[] =>
  [...kept.keys()].filter((key) => key.startsWith(start));

export const isPage = (): boolean => true;

export const pageOrigin = (): string => 'https://test.example';

/** Asked of the browser if there is one, so that a test can switch it on. */
export const isGpcOn = (): boolean => !!mayFail(isGpcOnHere);

export const isOffline = (): boolean => false;

export const beacon = (): boolean => false;

export const databaseNames = async (): Promise<string[]> => [];

export const deleteDatabase = (): void => undefined;

export const sinceOpened = (): number => 0;
/** Jest's jsdom has no `TextEncoder`. */
export const byteLength = (text: string): number => new Blob([text]).size;

let made = 0;
export const newId = (): string => `test-${++made}`;
