import { outboxNames } from '../start-afresh.js';
import { someEvents } from './some-events.js';
import type { Scene } from './stage.js';

/** The database is closed under the tracker the next time it is used, as browsers do now and then. */
const closeAtNextUse = (names: readonly string[]): void => {
  const { prototype } = IDBDatabase;
  const transaction = prototype.transaction;
  prototype.transaction = function (...given: Parameters<typeof transaction>) {
    if (names.includes(this.name)) {
      prototype.transaction = transaction;
      this.close();
    }
    return transaction.apply(this, given);
  };
};

export const killOutbox: Scene = async ({ caller }) => {
  const names = await outboxNames();
  closeAtNextUse(names);
  // Waits until the connection is closed; another tab’s holds it up.
  for (const name of names) indexedDB.deleteDatabase(name);
  caller.events(someEvents(10, 'outbox'));
  return '10 calls made, and the database is gone. They are sent all the same, and storage is opened again within 10 s.';
};
