import { messageOf } from '../../interface/errors.js';
import type { BatchRecord, BatchResult, RelayOutcome } from '../../interface/wire.js';
import type { Seen, Sighting } from '../queue/ports.js';
import { recordKeyOf } from '../queue/record.js';
import type { Tell } from '../hooks.js';
import { inTime, sleep } from '../time.js';
import { createTellDropped, createReportOnce } from '../report-once.js';

/**
 * How long to wait before asking again about a record that another process is sending, or about a mark that
 * could not be stored.
 */
export const AGAIN_MS = 200;
/** The store gets at least this long for a record's result, even when the time of its request is over. */
const LAST_MS = 1_000;

const KEPT: readonly RelayOutcome[] = ['delivered', 'accepted', 'rejected'];

const NO_SIGHTING = '`begin` answered something that is no sighting';

interface ClaimOptions {
  claimMs: number;
  /** The store has to answer by this time, milliseconds since the epoch. */
  until: number;
  /** Whose records these are. */
  client: string | undefined;
  /** Ask again while another process is sending the record, as long as there is time. */
  again?: boolean;
}

/** Wraps the store of ids so that it never rejects. While it fails or hangs, no record can be claimed. */
export const createClaims = (seen: Seen, now: () => number, tell: Tell) => {
  const trouble = createReportOnce(tell, now);
  const tellDropped = createTellDropped(tell, now);
  const failed = (message: string): void => trouble.tell({ kind: 'seen', message });
  const safely = async <Result>(
    ms: number,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> => {
    try {
      const result = await inTime(ms, work);
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

  /**
   * Claims records. When the store answers too late, nobody waits for the claims any more: they are given up,
   * or a repeat of the record would find it being sent by nobody.
   */
  const begin = async (
    records: readonly BatchRecord[],
    { claimMs, until, client }: ClaimOptions,
  ): Promise<readonly Sighting[] | undefined> => {
    let isLate = false;
    const sightings = await safely(until - now(), async () => {
      const answer = await seen.begin(records.map(recordKeyOf), claimMs, client);
      if (!Array.isArray(answer)) throw new Error(NO_SIGHTING);
      if (isLate)
        void forget(
          records.filter((_, index) => answer[index]?.state === 'new'),
          now(),
        );
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

  /** What the store knows of each record, or undefined where it fails. */
  const claim = (
    records: readonly BatchRecord[],
    options: ClaimOptions,
  ): Promise<Sighting | undefined>[] => {
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

  return {
    claim,
    /** Stores the result of each record. Answers whether it could. */
    finish: async (
      done: readonly (readonly [record: BatchRecord, result: BatchResult])[],
      { until, client }: Pick<ClaimOptions, 'until' | 'client'>,
    ): Promise<boolean> => {
      const results = done.map(([record, result]) => ({ ...result, id: recordKeyOf(record) }));
      const isKept = await safely(lastMs(until), async () => {
        tellDropped((await seen.finish(results, client)) ?? {});
        return true;
      });
      return isKept === true;
    },
    forget,
  };
};

export type Claims = ReturnType<typeof createClaims>;

/**
 * Lets a repeat share the result of the same record that is being sent by this process. All records of a
 * batch are registered before anything is awaited. So a record only waits for one that was registered before
 * it, and two can never wait for each other.
 */
export const createRunning = (tell: Tell) => {
  const running = new Map<string, Promise<BatchResult>>();

  return <Record extends BatchRecord>(
    records: readonly Record[],
    /** Starts the records that are not being sent yet. The promises it returns must not reject. */
    start: (fresh: readonly Record[]) => readonly Promise<BatchResult>[],
  ): Promise<BatchResult[]> => {
    const keys = records.map(recordKeyOf);
    const byKey = new Map<string, Record>();
    records.forEach((record, index) => {
      const key = keys[index]!;
      if (!running.has(key) && !byKey.has(key)) byKey.set(key, record);
    });
    const fresh = [...byKey.values()];
    const results = fresh.length ? start(fresh) : [];
    [...byKey.keys()].forEach((key, index) => {
      const result = results[index]!;
      running.set(key, result);
      void result.then(() => running.delete(key));
    });
    const repeats = records.length - fresh.length;
    if (repeats) tell.metric('seen_hits', repeats);
    return Promise.all(keys.map((key) => running.get(key)!));
  };
};
