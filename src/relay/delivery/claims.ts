import { messageOf } from '../../interface/errors.js';
import type { BatchRecord, BatchResult, RelayOutcome } from '../../interface/wire.js';
import type { Tell } from '../hooks.js';
import { inTime } from '../in-time.js';
import { sleep } from '../pause.js';
import type { Seen, Sighting } from '../queue/ports.js';
import { recordKeyOf } from '../queue/record-key.js';

/** Between two looks at a record that another process is busy with, and two tries to mark one. */
export const AGAIN_MS = 200;
/** What a record came to is told to the store even when the time of its request is over. */
const LAST_MS = 1_000;

const KEPT: readonly RelayOutcome[] = ['delivered', 'accepted', 'rejected'];

const NO_SIGHTING = '`begin` answered something that is no sighting';

interface ClaimOptions {
  claimMs: number;
  /** The store has to answer by this time, milliseconds since the epoch. */
  until: number;
  /** Whose records these are. */
  client: string | undefined;
  /** Looks again at what another process has begun, as long as there is time. */
  again?: boolean;
}

/** The store of ids, made safe: where it fails or hangs nothing is claimed, and nothing rejects. */
export const createClaims = (seen: Seen, now: () => number, tell: Tell) => {
  let isFailing = false;

  const failed = (message: string): void => {
    if (!isFailing) tell.error({ kind: 'seen', message });
    isFailing = true;
  };
  const safely = async <Result>(
    ms: number,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> => {
    try {
      const result = await inTime(ms, work);
      isFailing = false;
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

  /** What is claimed after nobody waits for it any more is given up, or its repeats would find it begun. */
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

  /** The store knows records by their keys, and the answer names them by their ids. */
  const read = ({ id }: BatchRecord, sighting: Sighting | undefined): Sighting | undefined => {
    if (sighting?.state === 'new' || sighting?.state === 'begun') return sighting;
    const result: Partial<BatchResult> | undefined = sighting?.result;
    const outcome = KEPT.find((kept) => kept === result?.outcome);
    if (outcome) return { state: 'done', result: { id, outcome, status: Number(result?.status) } };
    failed(NO_SIGHTING);
    return undefined;
  };

  /** A sighting of each record, or none where the store fails. */
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
      // Most of the time there is an answer soon, and no page has to come again.
      await sleep(AGAIN_MS);
      return claim([record], options)[0];
    });
  };

  return {
    claim,
    /** Keeps what each record came to; says whether it could. */
    finish: async (
      done: readonly (readonly [record: BatchRecord, result: BatchResult])[],
      { until, client }: Pick<ClaimOptions, 'until' | 'client'>,
    ): Promise<boolean> => {
      const results = done.map(([record, result]) => ({ ...result, id: recordKeyOf(record) }));
      const isKept = await safely(lastMs(until), async () => {
        await seen.finish(results, client);
        return true;
      });
      return isKept === true;
    },
    forget,
  };
};

export type Claims = ReturnType<typeof createClaims>;
