import type { Entry } from '../outbox/parcel.js';
import type { Conclude } from './conclusions.js';
import type { Context } from './context.js';
import type { Started } from './health.js';

/**
 * At most this many requests go to the page's own origin at a time. Over HTTP/1.1 browsers have six connections for
 * it, which the rest of the site needs as well: its files, its calls, the next page.
 */
const OWN_ORIGIN = 2;
/** While a request to the page's own origin has had no answer for this long, no other is started. */
const HANGING_MS = 2_000;
/** The first request goes alone for at most this long, so that its preflight serves the others. */
const PREFLIGHT_MS = 500;

interface Parts {
  conclude: Conclude;
  /** Called when a request has come to its end, and left its place free. */
  onFree: () => void;
}

/** Starts requests and follows them to their end. Knows which are under way, and how many more there may be. */
export const createRequests = (context: Context, { conclude, onFree }: Parts) => {
  const { outbox, sender, health, batching, concurrency, now } = context;
  const { isOwnOrigin, isHidden, onSent } = context;
  const groups = new Map<Started, readonly Entry[]>();
  /** The first request has not been started yet, or may still wait for its preflight. */
  let isFirst = !!sender.hasPreflight;

  const entries = (): Entry[] => [...groups.values()].flat();

  const isHanging = ({ at }: Started): boolean => now() - at >= HANGING_MS;

  /** Ends the wait of the others for the preflight. */
  const follow = (): void => {
    isFirst = false;
    onFree();
  };

  const most = (): number => {
    if (!isOwnOrigin) return isFirst ? 1 : concurrency();
    return [...groups.keys()].some(isHanging) ? 0 : Math.min(concurrency(), OWN_ORIGIN);
  };

  return {
    count: (): number => groups.size,
    /** The records of all requests under way. */
    entries,
    /** How many more may be started. */
    places: (): number =>
      Math.min(
        health.width() - [...groups.keys()].filter(health.isCurrent).length,
        most() - groups.size,
      ),
    start: async (group: readonly Entry[], handoff: boolean): Promise<void> => {
      if (isFirst && groups.size === 0) setTimeout(follow, PREFLIGHT_MS);
      const started = health.begin();
      groups.set(started, group);
      const records = group.map(({ record }) => record);
      const size = batching.weigh(group);
      const keepalive = size <= sender.room();
      for (const entry of group) outbox.begin(entry, keepalive);
      const sending = sender.send(records, { size, keepalive });
      for (const record of records) onSent(record, handoff);
      const sent = await sending;
      isFirst = false;
      if (!groups.delete(started)) return; // delivery was stopped
      conclude(group, sent);
      // A page that goes away has handed the request to the browser, and does not send its records again.
      if (sent || !isHidden()) onFree();
    },
    /** Forgets all. */
    clear: (): void => groups.clear(),
  };
};

export type Requests = ReturnType<typeof createRequests>;
