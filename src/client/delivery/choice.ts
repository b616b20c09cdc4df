import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import type { Batching } from './batching.js';
import { nextInLine } from './lanes.js';
import type { Requests } from './requests.js';
import type { Troubles } from './troubles.js';

/** Records looked at for one that has not failed yet. */
const PROBE_CHOICE = 50;
/** As good as so many failures: one that has failed while others passed. */
const SUSPECT = 1_000;
/** Requests that outlive the page, at the most: Chromium carries 256 and loses what is beyond (measured). */
const HANDOFF = 128;

interface Effects {
  outbox: Pick<Outbox, 'young' | 'hasUnread' | 'canSend'>;
  requests: Requests;
  batching: Batching;
  troubles: Troubles;
  /** Bytes that would still be carried past the page's end. */
  room: () => number;
}

/** Which records go next, as those of one request each. */
export const createChoice = ({ outbox, requests, batching, troubles, room }: Effects) => {
  const { fits, weightOf } = batching;
  const dueAt = (entry: Entry): number => troubles.see(entry).dueAt;

  function* line(): Generator<Entry, undefined> {
    yield* requests.lost();
    yield* outbox.young();
  }

  /** A probe with records that have not failed yet: a bad one must not hold up the line. */
  const leastDoubtful = (candidates: readonly Entry[]): Entry[] => {
    const doubtOf = (entry: Entry) => {
      const { failures, isSuspect } = troubles.see(entry);
      return failures + (isSuspect ? SUSPECT : 0);
    };
    const least = Math.min(...candidates.map(doubtOf));
    return candidates.filter((entry) => doubtOf(entry) === least);
  };

  return {
    next: (now: number, horizon: number, limit: number, isProbing: boolean): Entry[][] => {
      const rules = { now, horizon, limit, hasUnread: outbox.hasUnread(), dueAt, fits };
      const alone = { ...rules, limit: PROBE_CHOICE, fits: () => false };
      const entries = isProbing ? leastDoubtful(nextInLine(line(), alone).flat()) : line();
      return nextInLine(entries, rules);
    },
    /** What the browser takes from a page that goes away. */
    leaving: (now: number, horizon: number): Entry[][] => {
      let left = room();
      const leaving = (entry: Entry, alone: boolean): boolean => {
        const weight = weightOf(entry, alone);
        if (weight > left || !outbox.canSend(entry)) return false;
        left -= weight;
        return true;
      };
      const limit = HANDOFF - requests.count();
      return nextInLine(line(), { now, horizon, limit, hasUnread: false, dueAt, fits, leaving });
    },
  };
};

export type Choice = ReturnType<typeof createChoice>;
