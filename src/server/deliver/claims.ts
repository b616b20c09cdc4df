import { messageOf } from '../../interface/errors.js';
import { inTime } from '../../interface/in-time.js';
import type { BatchRecord, BatchResult, RelayOutcome } from '../../interface/wire.js';
import { createReportOnce, createTellDropped, type Tell } from '../hooks.js';
import type { Seen, Sighting } from '../queue/ports.js';
import { recordKeyOf, unclaimed } from '../queue/record.js';
import { sleep } from '../time.js';

/** How long to wait before the store is asked again. */
export const AGAIN_MS = 200;
/** The store gets at least this long for a record's result, even when the time of its request is over. */
const LAST_MS = 1_000;

/** Outcomes of a record that somebody has taken. */
export const KEPT: readonly RelayOutcome[] = ['delivered', 'accepted', 'rejected'];
const NO_SIGHTING = '`begin` answered something that is no sighting';

export interface ClaimOptions {
  claimMs: number;
  /** The store has to answer by this time, milliseconds since the epoch. */
  until: number;
  /** Whose records these are. */
  client: string | undefined;
  /** The records are of a queue: see `DeliverOptions`. */
  isQueued?: boolean | undefined;
  /** Ask again while another process is sending the record, as long as there is time. */
  again?: boolean;
}

/** What the store knows of each record; undefined while it fails. */
export type Sightings = readonly Promise<Sighting | undefined>[];

/** The store of ids, wrapped so that it never rejects. While it fails or hangs, no record can be claimed. */
export const createClaims = (seen: Seen, now: () => number, tell: Tell) => {
  const trouble = createReportOnce(tell, now);
  const tellDropped = createTellDropped(tell, now);
  const failed = (message: string): void => trouble.tell({ kind: 'seen', message });
  const safely = async <Result>(
    ms: number,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> => {
    try {
      const result = await inTime(work(), ms);
      trouble.healed();
      return result;
    } catch (error) {
      failed(messageOf(error));
      return undefined;
    }
  };
  const lastMs = (until: number): number => Math.max(LAST_MS, until - now());

  const forget = async (records: readonly BatchRecord[], until: number): Promise<void> => {
    await safely(lastMs(until), () => seen.forget(records.map(recordKeyOf)));
  };

  /** When the store answers too late, nobody waits for the claims any more, and they are given up. */
  const begin = async (
    records: readonly BatchRecord[],
    { claimMs, until, client }: ClaimOptions,
  ): Promise<readonly Sighting[] | undefined> => {
    let isLate = false;
    const sightings = await safely(until - now(), async () => {
      const answer = await seen.begin(records.map(recordKeyOf), claimMs, client);
      if (!Array.isArray(answer)) throw new Error(NO_SIGHTING);
      const claimed = records.filter((_, index) => answer[index]?.state === 'new');
      if (isLate) void forget(claimed, now());
      return answer;
    });
    isLate = !sightings;
    return sightings;
  };

  /** Checks what the store has answered for a record, and puts the record's id in place of its key. */
  const read = ({ id }: BatchRecord, sighting: Sighting | undefined): Sighting | undefined => {
    if (sighting?.state === 'new' || sighting?.state === 'begun') return sighting;
    const result: Partial<BatchResult> | undefined = sighting?.result;
    const outcome = KEPT.find((kept) => kept === result?.outcome);
    if (outcome) return { state: 'done', result: { id, outcome, status: Number(result?.status) } };
    failed(NO_SIGHTING);
    return undefined;
  };

  const claim = (records: readonly BatchRecord[], options: ClaimOptions): Sightings => {
    const sightings = begin(records, options);
    return records.map(async (record, index) => {
      const all = await sightings;
      const sighting = all && read(record, all[index]);
      const hasTime = options.again && now() + AGAIN_MS < options.until;
      if (sighting?.state !== 'begun' || !hasTime) return sighting;
      // The other process mostly has a result soon, and then the page need not send again.
      await sleep(AGAIN_MS);
      return claim([record], options)[0];
    });
  };

  /** What is known of a record without passing it on, if anything. */
  const knownOf = (
    { id }: BatchRecord,
    sighting: Sighting | undefined,
    isQueued: boolean,
  ): BatchResult | undefined => {
    if (!sighting || (sighting.state === 'begun' && !isQueued)) return unclaimed(id, sighting);
    if (sighting.state !== 'done') return undefined;
    if (isQueued && sighting.result.outcome !== 'delivered') return undefined;
    tell.metric('seen_hits', 1);
    return sighting.result;
  };

  return {
    claim,
    /**
     * Passes on the records that are not known, once that is known of all, and answers one result for each record in
     * their order. Gives up the claims of those that were not taken.
     */
    passOn: async <Record extends BatchRecord>(
      records: readonly Record[],
      sightings: Sightings,
      { until, isQueued = false }: Pick<ClaimOptions, 'until' | 'isQueued'>,
      pass: (fresh: readonly Record[]) => Promise<readonly BatchResult[]>,
    ): Promise<BatchResult[]> => {
      const sighted = await Promise.all(sightings);
      const known = records.map((record, index) => knownOf(record, sighted[index], isQueued));
      const fresh = records.filter((_, index) => !known[index]);
      const results = fresh.length ? await pass(fresh) : [];
      const failed = fresh.filter((_, index) => !KEPT.includes(results[index]!.outcome));
      if (failed.length && !isQueued) await forget(failed, until);
      let next = 0;
      return known.map((result) => result ?? results[next++]!);
    },
    /** Stores the result of each record. Answers whether it could. */
    finish: async (
      records: readonly BatchRecord[],
      results: readonly BatchResult[],
      { until, client }: Pick<ClaimOptions, 'until' | 'client'>,
    ): Promise<boolean> => {
      const kept = results.map(({ outcome, status }, index) => ({
        ...{ id: recordKeyOf(records[index]!), outcome, status },
      }));
      const isKept = await safely(lastMs(until), async () => {
        tellDropped(await seen.finish(kept, client));
        return true;
      });
      return isKept === true;
    },
  };
};

export type Claims = ReturnType<typeof createClaims>;

/**
 * Lets a repeat share the result of the same record that is being passed on by this process. All records of a batch are
 * registered before anything is awaited, so a record waits only for one that came before it, and two never for each other.
 */
export const createRunning = (tell: Tell) => {
  const running = new Map<string, Promise<BatchResult>>();

  return <Record extends BatchRecord>(
    records: readonly Record[],
    /** Starts the records that are not under way yet. The promises it returns must not reject. */
    start: (fresh: readonly Record[]) => readonly Promise<BatchResult>[],
  ): Promise<BatchResult>[] => {
    const keys = records.map(recordKeyOf);
    const fresh = records.filter(
      (_, index) => !running.has(keys[index]!) && keys.indexOf(keys[index]!) === index,
    );
    const results = fresh.length ? start(fresh) : [];
    results.forEach((result, index) => {
      const key = recordKeyOf(fresh[index]!);
      running.set(key, result);
      void result.then(() => running.delete(key));
    });
    const repeats = records.length - fresh.length;
    if (repeats) tell.metric('seen_hits', repeats);
    return keys.map((key) => running.get(key)!);
  };
};
