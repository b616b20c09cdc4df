import { shelf } from '../../src/client/page.js';
import { tracker } from './tracker.js';

const PREFIX = 'analytics-outbox ';
/** What stays: a scene begins with another tracker, and not with another visitor. */
const OF_THE_VISITOR = / (user|consent)$/;

/** Storage that hangs must not hold up a scene. */
const OPENS_WITHIN_MS = 2_000;

const deleteDatabase = (name: string): Promise<void> =>
  new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
  });

/** The databases of outboxes of this site. */
export const outboxNames = async (): Promise<string[]> =>
  (await indexedDB.databases())
    .map(({ name = '' }) => name)
    .filter((name) => name.startsWith(PREFIX));

/** Takes the tracker down, and deletes what it has stored: records, notes, the pause of all pages. */
export const takeDown = async (): Promise<void> => {
  tracker().stop();
  for (const key of shelf.keys()) {
    if (key.startsWith(PREFIX) && !OF_THE_VISITOR.test(key)) shelf.remove(key);
  }
  await Promise.all((await outboxNames()).map(deleteDatabase));
};

/** Settles when a tracker that has just begun knows where it keeps records. */
export const opened = (): Promise<void> =>
  new Promise((resolve) => {
    if (tracker().status?.().storage !== 'opening') return resolve();
    tracker().on('storage', () => resolve());
    setTimeout(resolve, OPENS_WITHIN_MS);
  });
