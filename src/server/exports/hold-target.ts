import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../util/errors.js';
import { createReportOnce, type ServerError, type Tell } from '../hooks.js';
import { LOCK_MS } from '../store/lock-ms.js';
import type { Progress, TargetChanges, TargetLock } from '../store/progress.js';
import { monotonicNow, sleep } from '../time.js';

/**
 * How often in its time a lock is renewed, and a process tries to take a target that another process has; and the part of
 * that time after which a process that could not renew it has to take it for lost.
 */
const [RENEWALS, SURE] = [5, 2 / 3];

/** Another process has the target by now. It goes on there. */
class LockLostError extends Error {
  override name = 'LockLostError' as const;
}

/** A target, for as long as this process has its lock. */
export interface HeldTarget {
  /** The lock as it was taken. Its place and memo say where the process before has ended. */
  lock: TargetLock;
  /** Aborted when the program stops, when the lock is lost, and when the work has ended. */
  signal: AbortSignal;
  /** Notes what has changed, and renews the lock. Rejects if another process has the target by now. */
  keep: (changes?: TargetChanges) => Promise<void>;
  /** Milliseconds for which no other process can have the target: not above 0 in one that has slept for too long. */
  sureMs: () => number;
}

/** Renews a lock while some work goes on, and gives the target back at the end. */
export const withLock = async <Result>(
  progress: Progress,
  lock: TargetLock,
  work: (held: HeldTarget) => Promise<Result>,
  stop?: AbortSignal,
): Promise<Result> => {
  const ending = new AbortController();
  const signal = stop ? AbortSignal.any([stop, ending.signal]) : ending.signal;
  let keptAt = -Infinity;
  const keep = async (changes?: TargetChanges): Promise<void> => {
    const at = monotonicNow();
    if (await progress.keep(lock, changes)) return void (keptAt = at);
    ending.abort(new LockLostError(`another process has taken ${lock.target}`));
    throw ending.signal.reason;
  };
  const sureMs = (): number => keptAt + lock.ms * SURE - monotonicNow();
  // If the database is away, the work finds out by itself.
  const renewing = setInterval(() => void keep().catch(() => {}), lock.ms / RENEWALS);
  try {
    return await work({ lock, signal, keep, sureMs });
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error;
  } finally {
    clearInterval(renewing);
    ending.abort();
    await progress.release(lock).catch(() => {}); // it runs out by itself
  }
};

interface Parts {
  progress: Progress;
  name: string;
  /** The place where the target begins if it is new. @default the first one */
  from?: () => Promise<number>;
  /** Milliseconds for which its lock holds without being renewed. @default 30000 */
  lockMs?: number;
  /**
   * Works with the target until its signal is aborted. If it rejects, the target is taken again after a wait. `works`
   * says that all goes well, so that the next failure is a new one.
   */
  work: (held: HeldTarget, works: () => void) => Promise<void>;
  tell: Tell;
  /** What is reported, once, while the work fails. */
  problemOf: (words: string) => ServerError;
}

/**
 * Works with a target in one process at a time, until the returned function is called. Other processes wait until this
 * one gives the target back or its lock runs out.
 */
export const holdTarget = (parts: Parts): (() => Promise<void>) => {
  const { progress, name, from, lockMs: ms = LOCK_MS, work, tell, problemOf } = parts;
  const holder = crypto.randomUUID();
  const stopping = new AbortController();
  const stop = stopping.signal;
  const trouble = createReportOnce(tell, Date.now);
  let failingSince: number | undefined;

  const works = (): void => {
    failingSince = undefined;
    trouble.healed();
  };
  const hold = async (): Promise<void> => {
    const lock = await progress.take(name, holder, { ms, ...(from && { from: await from() }) });
    if (lock) await withLock(progress, lock, (held) => work(held, works), stop);
    else await sleep(ms / RENEWALS, stop);
  };
  /** Waits after a failure. A stop or a lost lock is none. */
  const recover = async (error: unknown): Promise<void> => {
    if (stop.aborted || error instanceof LockLostError) return;
    failingSince ??= monotonicNow();
    trouble.tell(problemOf(messageOf(error)));
    const waitMs = waitInTrouble(monotonicNow() - failingSince, Math.random());
    await sleep(waitMs, stop).catch(() => {}); // the program stops
  };
  const run = async (): Promise<void> => {
    while (!stop.aborted) await hold().catch(recover);
  };
  const running = run();

  return async () => {
    stopping.abort();
    await running;
  };
};
