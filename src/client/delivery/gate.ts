import { toJson } from '../record/to-json.js';
import { BASE_MS, delayAfter } from '../../interface/backoff.js';

/** The penalty of a destination, as kept where other tabs and the next page see it. */
interface Penalty {
  /** Failures, less the requests that have passed since. */
  n: number;
  /** No request before this time; 0 once one has passed. */
  until: number;
  /** The service has asked for so much of it: nothing but an answer ends that. */
  floor: number;
}

const NONE: Penalty = { n: 0, until: 0, floor: 0 };

interface Effects {
  /** What stands there: nothing where the site has cleared it. */
  load: () => string | undefined;
  /** Returns false where it could not be kept. */
  save: (value: string) => boolean;
  now: () => number;
  random: () => number;
}

/** A request has failed. */
interface Failure {
  /** The wait that the service has asked for; 0 for none. */
  retryAfterMs: number;
  /** A request beside it has failed before: it is the same failure, seen once more. */
  isRepeat: boolean;
  /** `until` as the request started. If another page has closed the gate since, it stays closed for as long. */
  startedUntil: number;
  /** No answer came. That may be this client's network alone, and often ends in a moment. */
  isSilent: boolean;
}

/** A clock that was set back must not lock the gate for longer than any penalty lasts. */
const LONGEST_MS = 2 * 3_600_000;
/** More failures change no delay, and would only be remembered for longer. */
const MOST_FAILURES = 9;
/**
 * So many at least, once the service has refused a probe as well: what lasts longer than a second often
 * lasts for minutes, and the first tries of a whole fleet are the most that a server has to bear (docs/fleet.md).
 */
const LASTING = 4;

/** None where somebody else has written something under our name. */
const parse = (text: string): Penalty => {
  try {
    const { n, until, floor } = JSON.parse(text) as Penalty;
    return [n, until, floor].every(Number.isFinite) ? { n, until, floor } : NONE;
  } catch {
    return NONE;
  }
};

/** Backoff of one destination, shared by its pages. */
export const createGate = ({ load, save, now, random }: Effects) => {
  /** What this page has read or written last: all there is where the site clears localStorage, or has none. */
  let own = NONE;
  let isKept = true;

  const read = (): Penalty => {
    const text = load();
    if (text === undefined) return own;
    const shared = parse(text);
    if (isKept) own = shared;
    // The longer wait, where `own` could not be kept: another page may have been able to keep what it knows.
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
     * Earliest time of the next request; in the past when the gate is open. Until one has passed it is above 0:
     * a probe goes first.
     */
    until: (): number => endOf(read().until),
    /** Closes the gate after a failure. */
    close: ({ retryAfterMs, isRepeat, startedUntil, isSilent }: Failure) => {
      const before = read();
      // A long wish counts as the failures that lead to as long a wait: a whole fleet may have been told
      // the same moment, and must come back as spread out as it went (docs/fleet.md).
      const wished = Math.log2(retryAfterMs / BASE_MS);
      const isSame = before.until === startedUntil;
      const least = isSame ? 0 : endOf(before.until);
      const lasting = isSame && startedUntil && !isSilent ? LASTING : 0;
      const n = Math.min(MOST_FAILURES, Math.max(before.n, wished, lasting));
      const wish = now() + retryAfterMs;
      const floor = Math.max(endOf(before.floor), retryAfterMs > 0 ? wish : 0);
      const until = Math.max(least, now() + delayAfter(n, retryAfterMs, random));
      const isOneMore = !isRepeat || !before.until;
      // A wish of the server's counts whoever hears it.
      const isHeard = retryAfterMs > 0 && wish > before.until;
      if (isOneMore || isHeard) write({ n: isOneMore ? n + 1 : n, until, floor });
    },
    /** Keeps other pages back while this one probes; nothing while the gate is open. */
    reserve: (ms: number) => {
      const before = read();
      if (endOf(before.until)) write({ ...before, until: now() + ms });
    },
    /**
     * A request has passed. A server at its limit lets some pass: who forgot all failures then would ask
     * too much of it again at once.
     */
    open,
    /** Something has changed here: one more try, unless the service has asked for the wait. */
    lift: () => {
      if (endOf(read().floor) <= now()) open();
    },
  };
};

export type Gate = ReturnType<typeof createGate>;
