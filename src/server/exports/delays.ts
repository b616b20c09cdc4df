import type { Store } from '../store/port.js';
import type { TargetState } from '../store/progress.js';

/** How far a target of an export or of notifications is behind the store. */
export interface TargetDelay extends Omit<TargetState, 'isHeld' | 'erased' | 'owes'> {
  /** About how many rows are behind its place. */
  behind: number;
  /** For how long the oldest of them has been stored, in milliseconds; 0 if there is none. */
  delay_ms: number;
}

/** Reads how far all targets are. */
export const readDelays = async (
  { rows, lastPlace, progress }: Pick<Store, 'rows' | 'lastPlace' | 'progress'>,
  now: number,
): Promise<TargetDelay[]> => {
  const targets = await progress.targets();
  const last = targets.length ? await lastPlace() : 0;
  return Promise.all(
    targets.map(async ({ isHeld: _, erased: __, owes, ...target }) => {
      const [next] = await rows({}, { after: target.place, limit: 1 });
      const [oldest = next] =
        owes === undefined ? [] : await rows({}, { after: owes - 1, before: owes + 1, limit: 1 });
      return {
        ...target,
        behind: next ? last - target.place : 0,
        delay_ms: oldest ? Math.max(0, now - Date.parse(oldest.received_at)) : 0,
      };
    }),
  );
};
