import { toJson } from '../record/to-json.js';
import { BASE_MS, delayAfter } from '../../interface/backoff.js';

/** The penalty of a destination, as it stands in localStorage, where all pages of the site see it. */
interface Penalty {
  /** The number of failures, less the requests that have passed since. */
  n: number;
  /** No request starts before this time; 0 once one has passed. */
  until: number;
  /** The part of the wait that the service has asked for ends at this time. Only an answer ends it earlier. */
  floor: number;
}

const NONE: Penalty = { n: 0, until: 0, floor: 0 };

interface Effects {
  /** The stored penalty; undefined if there is none, as after the site has cleared its storage. */
  load: () => string | undefined;
  /** Returns false if the penalty could not be stored. */
  save: (value: string) => boolean;
  now: () => number;
  random: () => number;
}

/** A request has failed. */
interface Failure {
  /** The wait that the service has asked for; 0 for none. */
  retryAfterMs: number;
  /** A request beside it has failed before: it is the same failure, seen once more. */
  again: boolean;
  /** `until` as the request started. If another page has closed the gate since, it stays closed for as long. */
  known: number;
  /** No answer came. That may be this client's network alone, and often ends in a moment. */
  isSilent: boolean;
}

/** No penalty lasts as long as this. A longer one was stored before the clock was set back, and is over. */
const LONGEST_MS = 2 * 3_600_000;
/** Failures are counted up to this: more change no delay, and would only be remembered for longer. */
const MOST_FAILURES = 9;
/**
 * Once the service has answered a probe with a failure, too, that counts as this many failures. A trouble that lasts
 * longer than a second often lasts for minutes, and the first tries of a whole fleet are the heaviest load that a
 * server has to bear (docs/fleet.md).
 */
const LASTING = 4;

/** No penalty if somebody else has written something under our key. */
const parse = (text: string): Penalty => {
  try {
    const { n, until, floor } = JSON.parse(text) as Penalty;
    return [n, until, floor].every(Number.isFinite) ? { n, until, floor } : NONE;
  } catch {
    return NONE;
  }
};

/** The backoff of one destination, shared by all pages of the site. */
export const createGate = ({ load, save, now, random }: Effects) => {
  /** The last penalty that this page has read or written. It counts while localStorage has none, or does not work. */
  let own = NONE;
  let isKept = true;

  const read = (): Penalty => {
    const text = load();
    if (text === undefined) return own;
    const shared = parse(text);
    if (isKept) own = shared;
    // If `own` could not be stored, the longer wait counts: another page may have been able to store its own.
    return shared.until > own.until ? shared : own;
  };
  const write = (penalty: Penalty) => {
    own = penalty;
    isKept = save(toJson(penalty)!);
  };

  const endOf = (until: number): number => (until - now() > LONGEST_MS ? 0 : until);

  const open = () => {
    const { n } = read();
    if (n > 0) write({ ...NONE, n: Math.max(0, n - 1) });
  };

  return {
    /**
     * Earliest time of the next request, in the past if one may go now. After a failure it is above 0 until a request
     * has passed: until then one request at a time goes, as a probe.
     */
    until: (): number => endOf(read().until),
    /** Closes the gate after a failure. */
    close: ({ retryAfterMs, again, known, isSilent }: Failure) => {
      const before = read();
      // A long wish counts as the failures that lead to as long a wait: a whole fleet may have been told to come back
      // at the same moment, and must come back as spread out as it went (docs/fleet.md).
      const wished = Math.log2(retryAfterMs / BASE_MS);
      const isSame = before.until === known;
      const least = isSame ? 0 : endOf(before.until);
      const lasting = isSame && known && !isSilent ? LASTING : 0;
      const n = Math.min(MOST_FAILURES, Math.max(before.n, wished, lasting));
      const wish = now() + retryAfterMs;
      const floor = Math.max(endOf(before.floor), retryAfterMs > 0 ? wish : 0);
      const until = Math.max(least, now() + delayAfter(n, retryAfterMs, random));
      const isOneMore = !again || !before.until;
      // A wish of the service counts, whichever request was told of it.
      const isHeard = retryAfterMs > 0 && wish > before.until;
      if (isOneMore || isHeard) write({ n: isOneMore ? n + 1 : n, until, floor });
    },
    /** Keeps other pages back for so long while this one probes. Does nothing while the gate is open. */
    reserve: (ms: number) => {
      const before = read();
      if (endOf(before.until)) write({ ...before, until: now() + ms });
    },
    /**
     * Called when a request has passed. It takes back one failure only, since a server at its limit lets some requests
     * pass, and must not be asked too much again at once.
     */
    open,
    /** Called when something has changed here. Allows one more try, unless the service has asked for the wait. */
    lift: () => {
      if (endOf(read().floor) <= now()) open();
    },
  };
};

export type Gate = ReturnType<typeof createGate>;
