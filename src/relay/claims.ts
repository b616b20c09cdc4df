import { messageOf } from '../errors.js';
import type { BatchRecord, BatchResult } from '../wire.js';
import type { Tell } from './hooks.js';
import { sleep } from './pause.js';
import type { Seen, Sighting } from './ports.js';
import { recordKeyOf } from './record-key.js';

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
  /** The store knows records by their keys, and the answer names them by their ids. */
  const readSighting = ({ id }: BatchRecord, sighting: Sighting | undefined) =>
    sighting?.state === 'done' ? { ...sighting, result: { ...sighting.result, id } } : sighting;

  /**
   * A sighting of each record, or none where the store fails. What another process has begun is looked at
   * again for `patienceMs`: most of the time there is an answer soon, and no page has to come again.
   */
  const claim = (
    records: readonly BatchRecord[],
    claimMs: number,
    patienceMs = 0,
  ): Promise<Sighting | undefined>[] => {
    const sightings = safely(() => seen.begin(records.map(recordKeyOf), claimMs));
    return records.map(async (record, index) => {
      const sighting = readSighting(record, (await sightings)?.[index]);
      if (sighting?.state !== 'begun' || patienceMs < AGAIN_MS) return sighting;
      await sleep(AGAIN_MS);
      return claim([record], claimMs, patienceMs - AGAIN_MS)[0];
    });
  };

  return {
    claim,
    /** Keeps what each record came to; says whether it could. */
    finish: async (
      done: readonly (readonly [record: BatchRecord, result: BatchResult])[],
    ): Promise<boolean> => {
      const results = done.map(([record, result]) => ({ ...result, id: recordKeyOf(record) }));
      return !!(await safely(() => seen.finish(results).then(() => true)));
    },
    forget: (records: readonly BatchRecord[]) =>
      safely(() => seen.forget(records.map(recordKeyOf))),
  };
};
