import { toJson } from '../record/to-json.js';
import { waitAfter } from '../../interface/backoff.js';

/** The trouble of a destination, as it stands in localStorage, where all pages of the site see it. */
interface Trouble {
  /** The first failure since the service has last taken a record; 0 if there was none. */
  since: number;
  /** No request starts before this time; 0 once a record has passed. */
  until: number;
  /** The part of the wait that the service has asked for ends at this time. */
  floor: number;
}

const NONE: Trouble = { since: 0, until: 0, floor: 0 };

interface Effects {
  /** The stored trouble; undefined if there is none, as after the site has cleared its storage. */
  load: () => string | undefined;
  /** Returns false if the trouble could not be stored. */
  save: (value: string) => boolean;
  now: () => number;
  random: () => number;
}

/** No wait lasts as long as this. A longer one was stored before the clock was set back, and is over. */
const LONGEST_MS = 2 * 3_600_000;

/** No trouble if somebody else has written something under our key. */
const parse = (text: string): Trouble => {
  try {
    const { since, until, floor } = JSON.parse(text) as Trouble;
    return [since, until, floor].every(Number.isFinite) ? { since, until, floor } : NONE;
  } catch {
    return NONE;
  }
};

/** The backoff of one destination, shared by all pages of the site. */
export const createGate = ({ load, save, now, random }: Effects) => {
  /** The last trouble that this page has read or written. It counts while localStorage has none, or does not work. */
  let own = NONE;
  let isKept = true;

  const endOf = (until: number): number => (until - now() > LONGEST_MS ? 0 : until);

  const read = (): Trouble => {
    const text = load();
    if (text !== undefined) {
      const shared = parse(text);
      // If `own` could not be stored, the longer wait counts: another page may have been able to store its own.
      if (isKept || shared.until > own.until) own = shared;
    }
    return { ...own, until: endOf(own.until), floor: endOf(own.floor) };
  };
  const write = (trouble: Trouble) => {
    own = trouble;
    isKept = save(toJson(trouble)!);
  };

  return {
    /**
     * Earliest time of the next request, in the past if one may go now. After a failure it is above 0 until a record
     * has passed.
     */
    until: (): number => read().until,
    /** Until when the service has asked not to be asked. */
    floor: (): number => read().floor,
    /**
     * Closes the gate after a failure of a record that has failed before since `failedSince`, if it has. Where others
     * have passed after that, the trouble is the record's own, and changes nothing here. Nor does a failure while the
     * gate is closed. But a wait that the service asks for always counts. Returns true if the gate was open, and is
     * closed now.
     */
    close: (retryAfterMs: number, failedSince = Infinity): boolean => {
      const time = now();
      const { since, until, floor } = read();
      const began = since || time;
      const isNew = until <= time && failedSince >= began;
      const wish = retryAfterMs > 0 ? time + retryAfterMs : 0;
      if (!isNew && wish <= floor) return false;
      write({
        since: began,
        until: Math.max(until, time + waitAfter(time - began, retryAfterMs, random)),
        floor: Math.max(floor, wish),
      });
      return until <= time;
    },
    /** Called when the service has taken or refused a record. A wait that it has asked for meanwhile goes on. */
    open: (): void => {
      const { until, floor } = read();
      if (until > 0) write(floor > now() ? { since: now(), until: floor, floor } : NONE);
    },
    /** Called when something has changed here. The next try comes after so long at most, or as the service has asked. */
    hasten: (ms: number): void => {
      const trouble = read();
      const until = Math.max(trouble.floor, now() + ms);
      if (trouble.until > until) write({ ...trouble, until });
    },
  };
};

export type Gate = ReturnType<typeof createGate>;
