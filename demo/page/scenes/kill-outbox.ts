import { destinationName } from '../../../src/client/config/destination.js';
import { someEvents } from './some-events.js';
import type { Scene } from './stage.js';

/** The database is closed under the tracker the next time it is used, as browsers do now and then. */
const closeAtNextUse = (name: string): void => {
  const { prototype } = IDBDatabase;
  const transaction = prototype.transaction;
  prototype.transaction = function (...given: Parameters<typeof transaction>) {
    if (this.name === name) {
      prototype.transaction = transaction;
      this.close();
    }
    return transaction.apply(this, given);
  };
};

export const killOutbox: Scene = ({ caller, setup: { service, project } }) => {
  const name = destinationName(service, project);
  closeAtNextUse(name);
  // Waits until the connection is closed; another tab’s holds it up.
  indexedDB.deleteDatabase(name);
  caller.events(someEvents(10, 'outbox'));
  return '10 calls made, and the database is gone. They are sent from memory; storage is opened again after 5 s.';
};
