import { shelf } from './shelf.js';

/** Deletes all that is stored under a destination's name. The database is deleted without being opened. */
export const removeStored = (name: string): void => {
  for (const key of shelf.keys()) if (key.startsWith(`${name} `)) shelf.set(key, undefined);
  try {
    indexedDB.deleteDatabase(name);
  } catch {
    // This browser, or this mode of it, has no databases.
  }
};
