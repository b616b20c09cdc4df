import { nameOf, pagesOf, type Attempt, type Fate } from './fate.js';
import type { Faults } from './faults.js';
import type { Verdicts } from './verdicts.js';
import type { Witness } from './witness.js';

/**
 * A parcel is held for twice the timeout at least. Records made further apart than this may be in parcels of
 * which another page has claimed the older one.
 */
const APART_MS = 29_000;

/** A page stores outcomes together, a little later; a hidden page in its next second. */
const STORES_OUTCOME_MS = 1_050;

/** A page that has read the clock to claim records sends them within this time. */
const CLAIMS_MS = 10_000;

/** Says which meetings of a record with pages, services and stores break an invariant. */
export const createJudge = (witness: Witness, faults: Faults, verdicts: Verdicts) => {
  const { now } = witness;
  const { accuse } = verdicts;

  const metNear = (fate: Fate, from: number, to = now()): boolean =>
    faults.metNear(from, to, pagesOf(fate));

  const outlivedItsPage = ({ attempts }: Fate): boolean =>
    attempts.some(({ end }) => end === 'left' || end === 'killed');

  /** When its page held its parcel anew for the last time, as far as can be seen. */
  const touchedAt = ({ madeAt, attempts }: Fate): number =>
    Math.max(madeAt, ...attempts.map(({ startedAt }) => startedAt));

  return {
    /** It is stored while an earlier identify of its user, made by the same page, is not. */
    storedBefore: (earlier: Fate, fate: Fate, attempt: Attempt, senders: number): void => {
      const since = earlier.madeAt;
      accuse('order', fate, `${nameOf(fate)} was stored before ${nameOf(earlier)}`, {
        'order: handed off': () =>
          fate.type === 'event' && (fate.isHandedOff || earlier.isHandedOff),
        'order: a request outlived its page': () => !witness.resends && outlivedItsPage(earlier),
        'order: several pages hold records of the user': () =>
          senders > (attempt.page === fate.page ? 0 : 1) ||
          (fate.madeAt - since > APART_MS && witness.hadCompanySince(since)) ||
          witness.wasCutShortBetween(fate.page, since, now()),
        'order: handed off while older ones were let go': () =>
          fate.isHandedOff && attempt.startedAt - touchedAt(earlier) > APART_MS,
        'order: storage or the clock failed': () =>
          faults.wereSince(
            since,
            ...(['database', 'exit write', 'localStorage', 'exit note', 'crash'] as const),
            ...(['clock', 'clearing'] as const),
          ),
      });
    },

    /** Two requests have it at the same time. */
    sentTwice: (fate: Fate, earlier: Attempt, attempt: Attempt): void => {
      if (earlier.page !== attempt.page && !witness.isRunning(earlier.page)) return;
      const { page, startedAt } = earlier;
      accuse('holder', fate, `${nameOf(fate)} is sent by ${attempt.page} while ${page} sends it`, {
        'holder: one of the pages had paused, and repeats are known': () =>
          witness.resends &&
          [page, attempt.page].some((one) => witness.hasPausedSince(one, fate.madeAt)),
        'holder: the clock was set as the records were claimed or sent': () =>
          faults.wereBetween(startedAt - CLAIMS_MS, now(), 'clock'),
      });
    },

    /** It is stored once more, and this earlier request of it was stored, too. */
    storedAgain: (fate: Fate, { page, end, startedAt, endedAt, isHidden }: Attempt): void => {
      const how = `the first time it was ${end ?? 'in flight'} at ${page}`;
      accuse('once', fate, `${nameOf(fate)} is stored again; ${how}`, {
        'once: no answer came while its page lived': () => end === 'failed',
        'once: its page was killed while hidden, before the request was named': () =>
          end === 'killed' && isHidden && !witness.hasWrittenSince(page, startedAt),
        'once: the clock was set, and a page had paused': () =>
          faults.wereBetween(now() - CLAIMS_MS, now(), 'clock') &&
          [...pagesOf(fate)].some((one) => witness.hasPausedSince(one, fate.madeAt)),
        'once: storage faults met': () => metNear(fate, startedAt, Math.min(endedAt, now())),
      });
    },

    /** A final outcome of it is reported once more. */
    reportedAgain: (fate: Fate): void => {
      const { delivered, unknown, dropped, attempts, claims } = fate;
      const message = `${nameOf(fate)}: delivered ${delivered}, unknown ${unknown}, dropped ${dropped.join()}`;
      const before = claims.slice(0, -1);
      accuse('one fate', fate, message, {
        'one fate: no answer came while its page lived': () =>
          attempts.some(({ end }) => end === 'failed'),
        'one fate: its page stopped while the request was in flight': () =>
          attempts.some(({ page, startedAt, endedAt }) =>
            witness.wasStoppedBetween(page, startedAt, endedAt),
          ),
        'one fate: its page stopped before the outcome was stored': () =>
          before.some(({ page, at }) =>
            witness.wasCutShortBetween(page, at, at + STORES_OUTCOME_MS),
          ),
        'one fate: the clock was set before the outcome was stored': () =>
          attempts.some(({ startedAt, endedAt }) =>
            faults.wereBetween(startedAt, endedAt + STORES_OUTCOME_MS, 'clock'),
          ),
        'one fate: a page that had paused dropped it, too': () =>
          dropped.length === claims.length &&
          claims.some(({ page }) => witness.hasPausedSince(page, fate.madeAt)),
        'one fate: storage faults met': () => metNear(fate, before.at(-1)!.at),
      });
    },

    /** It counts as unknown, and no request had it. */
    unknownUnsent: (fate: Fate): void => {
      accuse('honest', fate, `${nameOf(fate)} counts as unknown, and was never sent`, {
        'honest: the browser refused the handoff': () => fate.isOverBudget,
        'honest: storage faults met': () => metNear(fate, fate.madeAt),
        'honest: its page was killed before it sent what it had named': () =>
          faults.wereSince(fate.madeAt, 'kill', 'crash'),
      });
    },
  };
};
