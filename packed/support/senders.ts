import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { postBatch, type SentRecord } from './service.js';

const RESENDS_AFTER_MS = 100;

export const USERS = 50;
export const BATCH = 50;

/** One record in ten is an identify, each with a property of its own, so that the order of each user can be seen. */
export const recordOf = (n: number): SentRecord => {
  const user = { project: 'shop', user_id: `user-${n % USERS}` };
  return Math.floor(n / USERS) % 10
    ? {
        ...{ id: `record-${n}`, type: 'event' },
        body: { ...user, channel: 'web', event: 'Order placed', tags: { n } },
      }
    : { id: `record-${n}`, type: 'identify', body: { ...user, properties: { [`p${n}`]: n } } };
};

/** The ids of those records that a relay has taken: none where it is gone. */
export const takenOf = async (
  url: string,
  records: readonly SentRecord[],
): Promise<Set<string>> => {
  try {
    const response = await postBatch(url, records);
    const text = await response.text();
    if (!response.ok) return new Set();
    const { results } = JSON.parse(text) as { results: { id: string; outcome: string }[] };
    const isTaken = ({ outcome }: { outcome: string }) => /^(accepted|delivered)$/.test(outcome);
    const others = results.filter((result) => !isTaken(result));
    expect(others.filter(({ outcome }) => outcome !== 'retry')).toEqual([]);
    return new Set(results.filter(isTaken).map(({ id }) => id));
  } catch (error) {
    if (error instanceof TypeError) return new Set(); // no answer
    throw error;
  }
};

/** Sends a batch, to one relay after the other, until all of it is taken, as the snippet does. */
export const sendUntilTaken = async (
  relays: readonly { url: string }[],
  batch: readonly SentRecord[],
  first: number,
  onTaken: (ids: ReadonlySet<string>) => void,
): Promise<void> => {
  let waiting = batch;
  for (let target = first; waiting.length; target++) {
    const taken = await takenOf(relays[target % relays.length]!.url, waiting);
    onTaken(taken);
    waiting = waiting.filter(({ id }) => !taken.has(id));
    if (waiting.length) await sleep(RESENDS_AFTER_MS);
  }
};
