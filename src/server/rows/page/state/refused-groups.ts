import type { Refused } from '../../../store/port.js';

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
