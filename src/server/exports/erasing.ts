import { messageOf } from '../../util/errors.js';
import { createReportOnce, type Tell } from '../hooks.js';
import type { Erasure, Progress, Source } from '../store/progress.js';
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
}

/** Passes erasures on to a target while an export goes on. A failure does not hold up the export. */
export const createErasing = ({ progress, target, tell }: Parts) => {
  const trouble = createReportOnce(tell, Date.now);

  return (source: Source, { lock, keep, signal }: HeldTarget) => {
    let { erased } = lock;
    let isErasing = false;
    let lookedAt = -Infinity;

    const erase = async (erasures: readonly Erasure[]): Promise<void> => {
      isErasing = true;
      try {
        const left = await target.erase(source, erasures, signal);
        if (left) tell.error({ kind: 'erasure', message: `${target.name}: ${left}` });
        erased = erasures.at(-1)!.place;
        await keep({ erased });
        trouble.healed();
      } catch (error) {
        const message = `${target.name} keeps erased rows: ${messageOf(error)}`;
        if (!signal.aborted) trouble.tell({ kind: 'export', message });
      }
      isErasing = false;
    };

    /**
     * Begins to pass on what was erased since the last time, at most once a minute. It has to be called between two turns:
     * then all rows that were read before the erasures are written, and no later turn reads the erased ones.
     */
    return async (): Promise<void> => {
      if (isErasing || monotonicNow() - lookedAt < EVERY_MS) return;
      lookedAt = monotonicNow();
      const erasures = await progress.erasures(erased, MOST);
      if (erasures.length) void erase(erasures);
    };
  };
};
