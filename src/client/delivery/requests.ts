import type { Entry } from '../outbox/parcel.js';
import { isUnderWay } from '../outbox/states.js';
import type { Started } from './health.js';

/**
 * Requests at a time to the page's own origin. Over HTTP/1.1 browsers have six connections for it, which all
 * the rest of the site needs as well: its files, its calls, the next page.
 */
const OWN_ORIGIN = 2;
/** While one of them has had no answer for this long, no other is started. */
const HANGING_MS = 2_000;
/** The first request goes alone for so long at the most, so that its preflight serves the others. */
const PREFLIGHT_MS = 500;

interface Effects {
  concurrency: () => number;
  isOwnOrigin: () => boolean;
  hasPreflight: boolean;
}

/** Requests that have no answer yet, and how many more there may be. */
export const createRequests = ({ concurrency, isOwnOrigin, hasPreflight }: Effects) => {
  const groups = new Map<Started, readonly Entry[]>();
  let isAnswered = false;

  const isOlder = (ms: number, time: number): boolean =>
    [...groups.keys()].some(({ at }) => time - at >= ms);

  /** The first request goes alone: the others wait for its preflight. */
  const isAlone = (time: number): boolean =>
    hasPreflight && !isAnswered && !isOlder(PREFLIGHT_MS, time);

  const most = (time: number): number => {
    if (isOwnOrigin()) return isOlder(HANGING_MS, time) ? 0 : Math.min(concurrency(), OWN_ORIGIN);
    return isAlone(time) ? 1 : concurrency();
  };

  return {
    count: (): number => groups.size,
    /** How many more may be started. */
    places: (time: number): number => most(time) - groups.size,
    filter: (isCounted: (started: Started) => boolean): number =>
      [...groups.keys()].filter(isCounted).length,
    begin: (started: Started, group: readonly Entry[]): void => void groups.set(started, group),
    /** False where it was forgotten meanwhile. */
    end: (started: Started): boolean => {
      isAnswered = true;
      return groups.delete(started);
    },
    /** Forgets all. */
    clear: (): void => groups.clear(),
    /** All their records. */
    entries: (): Entry[] => [...groups.values()].flat(),
    /** Records that another page has by now, whose answer is awaited here. */
    lost: (): Entry[] =>
      [...groups.values()]
        .flat()
        .filter((entry) => entry.parcel.state === 'gone' && isUnderWay(entry)),
    /** When the first one will have gone alone for long enough; nothing once there was an answer. */
    firstUntil: (time: number): number => {
      const [first] = groups.keys();
      return first && isAlone(time) ? first.at + PREFLIGHT_MS : Infinity;
    },
  };
};

export type Requests = ReturnType<typeof createRequests>;
