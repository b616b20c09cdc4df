import { messageOf } from '../../util/errors.js';
import type { createReportOnce, Tell } from '../hooks.js';
import type { Erasure, Progress } from '../store/progress.js';
import { monotonicNow } from '../time.js';
import type { HeldTarget } from './hold-target.js';
import type { Target } from './target.js';

/** How often erasures are looked for. A warehouse deletes at a high cost. */
const EVERY_MS = 60_000;
/** Erasures that are passed on at a time. */
const MOST = 100;

interface Parts {
  progress: Progress;
  target: Target;
  tell: Tell;
  trouble: ReturnType<typeof createReportOnce>;
}

/**
 * Makes a function that begins to pass on what was erased since the last time, once a minute at the most. It has to be
 * called between two turns: then all rows that were read before the erasures are written, and no later turn reads the
 * erased ones. The export goes on meanwhile, whether the target deletes them or fails to.
 */
export const createErasing = (
  { progress, target, tell, trouble }: Parts,
  { lock, keep, signal }: HeldTarget,
) => {
  let { erased } = lock;
  let isErasing = false;
  let lookedAt = -Infinity;

  const erase = async (erasures: readonly Erasure[]): Promise<void> => {
    isErasing = true;
    try {
      const left = await target.erase(await progress.source(), erasures, signal);
      if (left) tell.error({ kind: 'erasure', message: `${target.name}: ${left}` });
      const { place } = erasures.at(-1)!;
      await keep({ erased: place });
      erased = place;
      trouble.healed();
    } catch (error) {
      const message = `${target.name} keeps erased rows: ${messageOf(error)}`;
      if (!signal.aborted) trouble.tell({ kind: 'export', message });
    }
    isErasing = false;
  };

  return async (): Promise<void> => {
    if (isErasing || monotonicNow() - lookedAt < EVERY_MS) return;
    lookedAt = monotonicNow();
    const erasures = await progress.erasures(erased, MOST);
    if (erasures.length) void erase(erasures);
  };
};
