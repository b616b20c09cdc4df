import type { Entry } from '../outbox/entry.js';

interface Rules {
  now: number;
  /** Records at the most. */
  limit: number;
  /** Own records up to this order: those called after the flush began wait for the next. */
  horizon: number;
  /** Older records are still unread: a user's newer ones wait for them. */
  hasUnread: boolean;
  /**
   * The page goes away: what follows an identify may go beside it, since its answer is not awaited. Says
   * whether a record may still be given to the browser.
   */
  leaving?: (entry: Entry) => boolean;
}

/**
 * What may be sent now, oldest first. Identifies of one user go one at a time and in order, and a user's
 * events go after the identifies before them. Everything else is free to overtake.
 */
export const nextInLine = (entries: readonly Entry[], rules: Rules): Entry[] => {
  const { now, limit, horizon, hasUnread, leaving } = rules;
  const chosen: Entry[] = [];
  const behindIdentify = new Set<string>();
  const identifying = new Set<string>();
  for (const entry of entries) {
    if (chosen.length >= limit) break;
    const { user, type } = entry.record;
    const isIdentify = type === 'identify' && user !== undefined;
    if (entry.state === 'flight') {
      if (isIdentify) (leaving ? identifying : behindIdentify).add(user);
      continue;
    }
    const waits =
      entry.order > horizon ||
      entry.dueAt > now ||
      (user !== undefined &&
        (behindIdentify.has(user) ||
          (isIdentify && identifying.has(user)) ||
          (hasUnread && entry.hold.own))) ||
      leaving?.(entry) === false;
    if (!waits) chosen.push(entry);
    if (isIdentify) (leaving && !waits ? identifying : behindIdentify).add(user);
  }
  return chosen;
};
