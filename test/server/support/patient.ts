import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../../src/server/store/port.js';

/** Waits until the sums and the profiles of a store have read all of its rows. */
export const caughtUp = async (store: Pick<Store, 'behind'>): Promise<void> => {
  for (;;) {
    const readers = await store.behind();
    const problem = readers.map((reader) => reader.problem).find(Boolean);
    if (problem) throw new Error(`a reader of the rows stands still: ${problem}`);
    if (readers.every(({ rows }) => rows === 0)) return;
    await sleep(2);
  }
};

/** A store whose answers wait until its sums and profiles have read all rows, as a person would. */
export const patient = (store: Store): Store => {
  const after =
    <Args extends unknown[], Result>(ask: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await caughtUp(store);
      return ask(...args);
    };
  return {
    ...store,
    profiles: after(store.profiles),
    counts: after(store.counts),
    hours: after(store.hours),
    users: after(store.users),
    refused: after(store.refused),
    countRefused: after(store.countRefused),
    expire: after(store.expire),
    expireProfiles: after(store.expireProfiles),
  };
};
