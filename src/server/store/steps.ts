import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { number, type Database } from './database.js';

/** How many places a step looks through: at first, and at the least. A row may have a hundred bytes or a hundred thousand. */
const [FIRST_STEP, MIN_STEP] = [100, 20];
/** A step stays small over small rows where reading blocks the only thread, because large ones may follow. */
const [MAX_STEP, MAX_FREE_STEP] = [2_000, 20_000];
/** A step that took longer is halved, or made smaller still; one that took less is doubled. */
const [LONG_MS, SHORT_MS] = [8, 4];
/** Timers are too coarse for shorter rests, so these are made up for later. */
const MIN_REST_MS = 2;
/** A process that has no idle time meanwhile gets as many rests as these, so that others have most of it. */
const MAX_RESTS = 6;

/** For how long this process had nothing to do so far. */
const idleMs = (): number => performance.eventLoopUtilization().idle;

/** Rests until the process has been idle for half of the time, for which nobody else needs it. */
const rest = async (ms: number): Promise<void> => {
  const before = idleMs();
  for (let rests = 0; rests < MAX_RESTS && idleMs() - before < ms / 2; rests++) await sleep(ms);
};

const nextStep = (step: number, tookMs: number, most: number): number => {
  if (tookMs < SHORT_MS) return Math.min(most, step * 2);
  return tookMs > LONG_MS
    ? Math.max(MIN_STEP, Math.ceil(step * Math.min(0.5, LONG_MS / tookMs)))
    : step;
};

/** The places between two numbers. */
export interface Step {
  after: number;
  before: number;
  /** Nothing of the span is left after it. */
  isLast: boolean;
}

interface Way {
  after?: number | undefined;
  before?: number | undefined;
  newest?: boolean | undefined;
  /** Each step waits for its turn and rests as long as it worked. */
  rests?: boolean | undefined;
  /** No step begins later than this. */
  ms?: number | undefined;
}

/**
 * The way through the places of a span, in steps of some milliseconds. Steps that rest take turns: of all who look
 * through rows one works at a time, and then rests as long as it has worked, or longer while the process is busy, so that
 * intake has most of the process and of the database.
 */
export const createSteps = ({
  table,
  read,
  blocks,
}: Pick<Database, 'table' | 'read' | 'blocks'>) => {
  const most = blocks ? MAX_STEP : MAX_FREE_STEP;
  const records = table('records');
  const ends = `SELECT (SELECT ${number('min(seq)', 'seq')} FROM ${records}) AS first,
    (SELECT ${number('max(seq)', 'seq')} FROM ${records}) AS last`;

  let free: Promise<unknown> = Promise.resolve();
  let owedMs = 0;
  /** Waits for a turn, and returns the function that ends it. */
  const turn = async (): Promise<() => void> => {
    const before = free;
    let rested = () => {};
    free = new Promise<void>((resolve) => (rested = resolve));
    await before;
    const startedAt = performance.now();
    return () => {
      owedMs += performance.now() - startedAt;
      if (owedMs < MIN_REST_MS) return void setImmediate(rested);
      void rest(owedMs).then(rested);
      owedMs = 0;
    };
  };

  async function* steps({
    after,
    before,
    newest,
    rests,
    ms = Infinity,
  }: Way): AsyncGenerator<Step, void> {
    const endsAt = performance.now() + ms;
    const [found] = await read<{ first: number | null; last: number | null }>(ends);
    let low = Math.max(after ?? 0, (found!.first ?? 1) - 1);
    let high = Math.min(before ?? Infinity, (found!.last ?? 0) + 1);
    let step = FIRST_STEP;
    while (high - low > 1) {
      const from = newest ? Math.max(low, high - 1 - step) : low;
      const to = newest ? high : Math.min(high, low + 1 + step);
      const leave = rests ? await turn() : undefined;
      const startedAt = performance.now();
      try {
        yield { after: from, before: to, isLast: newest ? from === low : to === high };
      } finally {
        step = nextStep(step, performance.now() - startedAt, most);
        if (leave) leave();
        // After the last step, too: an export asks for page after page.
        else await new Promise(setImmediate);
      }
      if (performance.now() >= endsAt) return;
      if (newest) high = from + 1;
      else low = to - 1;
    }
  }
  return {
    steps,
    /** Does work as one step that rests. */
    inTurn: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const leave = await turn();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
};

export type Steps = ReturnType<typeof createSteps>;
