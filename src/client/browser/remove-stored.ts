import { shelf } from './shelf.js';

/** Removes all that is stored under a destination's name, without making a database in order to empty it. */
export const removeStored = (name: string): void => {
  for (const key of shelf.keys()) if (key.startsWith(`${name} `)) shelf.set(key, undefined);
  try {
    indexedDB.deleteDatabase(name);
  } catch {
    // There is none in this mode of the browser.
  }
};
