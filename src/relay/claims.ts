import { messageOf } from '../errors.js';
import type { BatchRecord, BatchResult } from '../wire.js';
import type { Tell } from './hooks.js';
import type { Seen, Sighting } from './ports.js';

/** The store of ids, made safe: where it fails nothing is claimed, and nothing rejects. */
export const createClaims = (seen: Seen, tell: Tell) => {
  const safely = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await work();
    } catch (error) {
      tell.error({ kind: 'seen', message: messageOf(error) });
      return undefined;
    }
  };
  const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);

  return {
    /** One sighting a record, or none at all. */
    claim: async (records: readonly BatchRecord[], ms: number): Promise<readonly Sighting[]> =>
      (records.length && (await safely(() => seen.begin(idsOf(records), ms)))) || [],
    finish: (results: readonly BatchResult[]) => safely(() => seen.finish(results)),
    forget: (records: readonly { id: string }[]) => safely(() => seen.forget(idsOf(records))),
  };
};
