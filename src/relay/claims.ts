import { messageOf } from '../errors.js';
import type { BatchRecord, BatchResult } from '../wire.js';
import type { Tell } from './hooks.js';
import { sleep } from './pause.js';
import type { Seen, Sighting } from './ports.js';

/** Between two looks at a record that another process is busy with, and two tries to mark one. */
export const AGAIN_MS = 200;

/** The store of ids, made safe: where it fails nothing is claimed, and nothing rejects. */
export const createClaims = (seen: Seen, tell: Tell) => {
  let isFailing = false;

  const safely = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      const result = await work();
      isFailing = false;
      return result;
    } catch (error) {
      if (!isFailing) tell.error({ kind: 'seen', message: messageOf(error) });
      isFailing = true;
      return undefined;
    }
  };
  const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);

  /**
   * A sighting of each record, or none where the store fails. What another process has begun is looked at
   * again for `patienceMs`: most of the time there is an answer soon, and no page has to come again.
   */
  const claim = (
    records: readonly BatchRecord[],
    claimMs: number,
    patienceMs = 0,
  ): Promise<Sighting | undefined>[] => {
    const sightings = safely(() => seen.begin(idsOf(records), claimMs));
    return records.map(async (record, index) => {
      const sighting = (await sightings)?.[index];
      if (sighting?.state !== 'begun' || patienceMs < AGAIN_MS) return sighting;
      await sleep(AGAIN_MS);
      return claim([record], claimMs, patienceMs - AGAIN_MS)[0];
    });
  };

  return {
    claim,
    /** Whether they are kept. */
    finish: async (results: readonly BatchResult[]): Promise<boolean> =>
      !!(await safely(() => seen.finish(results).then(() => true))),
    forget: (records: readonly { id: string }[]) => safely(() => seen.forget(idsOf(records))),
  };
};
