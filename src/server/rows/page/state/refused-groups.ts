import type { Refused, RefusedCount } from '../../../store/port.js';

/** Refusals that are equal but for their time, id and content. */
export interface RefusedGroup {
  key: string;
  /** The newest first. */
  entries: Refused[];
}

/** Groups refusals in the order of the newest of each group. */
export const groupsOf = (refused: readonly Refused[]): RefusedGroup[] => {
  const groups = new Map<string, RefusedGroup>();
  for (const entry of refused) {
    const { reason, status, message, target, type, project, isDead } = entry;
    const key = JSON.stringify([reason, status, message, target, type, project, isDead]);
    const group = groups.get(key) ?? { key, entries: [] };
    groups.set(key, group);
    group.entries.push(entry);
  }
  return [...groups.values()];
};

/** Counts by reason, the most frequent first. */
export const reasonsOf = (
  counts: readonly Pick<RefusedCount, 'reason' | 'n'>[],
): [reason: RefusedCount['reason'], n: number][] => {
  const sums = new Map<RefusedCount['reason'], number>();
  for (const { reason, n } of counts) sums.set(reason, (sums.get(reason) ?? 0) + n);
  return [...sums].sort((a, b) => b[1] - a[1]);
};
