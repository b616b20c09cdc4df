import { LEASE_MS } from './client.js';
import { nameOf, pagesOf, type Attempt, type Fate } from './fate.js';
import type { Faults } from './faults.js';
import type { Verdicts } from './verdicts.js';
import type { Pause, Witness } from './witness.js';

/** Others may take what a page has stored or noted after this time at the earliest. */
const HELD_MS = LEASE_MS;
const MARGIN_MS = 1_000;

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

  /** The times at which a page that has it was frozen or in the back/forward cache. */
  const pausesOf = (fate: Fate): Pause[] =>
    [...pagesOf(fate)].flatMap((page) => witness.pausesSince(page, fate.madeAt));

  /** A page that stood still meanwhile goes on in the belief that it still holds what another has claimed. */
  const wasClockSetInPause = (fate: Fate): boolean =>
    pausesOf(fate).some(({ from, to }) => faults.wereBetween(from, to, 'clock'));

  /** A page without a database stood still until others might take what it had noted. */
  const pausedWithoutDatabase = (fate: Fate): boolean =>
    pausesOf(fate).some(
      ({ from, to, stored }) => to - from >= HELD_MS && !stored.has(fate.destination),
    );

  /** A write that a page had given up is stored after all, because what hung for so long goes on. */
  const wasStoredLate = (since: number): boolean =>
    faults.endedBetween(since - CLAIMS_MS, now(), 'database', HELD_MS - MARGIN_MS);

  const outlivedItsPage = ({ attempts }: Fate): boolean =>
    attempts.some(({ end }) => end === 'left' || end === 'killed');

  return {
    /** It is stored while an earlier identify of its user, made by the same page, is not. */
    storedBefore: (earlier: Fate, fate: Fate): void => {
      const since = earlier.madeAt;
      accuse('order', fate, `${nameOf(fate)} was stored before ${nameOf(earlier)}`, {
        'order: handed off': () =>
          fate.type === 'event'
            ? fate.isHandedOff || earlier.isHandedOff
            : witness.resends && earlier.isHandedOff,
        'order: a request outlived its page': () => !witness.resends && outlivedItsPage(earlier),
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
        'holder: the clock was set while a page held it': () => wasClockSetInPause(fate),
        'holder: handed off as its page left, and repeats are known': () =>
          witness.resends &&
          page === attempt.page &&
          witness.wasStoppedBetween(page, startedAt, now()),
        'holder: a page without a database had paused': () => pausedWithoutDatabase(fate),
        'holder: a write that hung was stored after all': () => wasStoredLate(startedAt),
        'holder: storage faults met': () => metNear(fate, startedAt),
      });
    },

    /** It is stored once more, and this earlier request of it was stored, too. */
    storedAgain: (fate: Fate, earlier: Attempt, attempt: Attempt): void => {
      const { page, end, startedAt, endedAt, isHidden } = earlier;
      const how = `the first time it was ${end ?? 'in flight'} at ${page}`;
      accuse('once', fate, `${nameOf(fate)} is stored again; ${how}`, {
        'once: no answer came while its page lived': () => end === 'failed',
        'once: its page was stopped while hidden, before the request was named': () =>
          isHidden &&
          !witness.hasWrittenSince(page, startedAt) &&
          witness.wasCutShortBetween(page, startedAt, endedAt + STORES_OUTCOME_MS),
        'once: the clock was set while a page held it': () =>
          page !== attempt.page &&
          (faults.wereBetween(now() - CLAIMS_MS, now(), 'clock') || wasClockSetInPause(fate)),
        'once: a page without a database had paused': () => pausedWithoutDatabase(fate),
        'once: a write that hung was stored after all': () => wasStoredLate(startedAt),
        'once: storage faults met': () =>
          fate.attempts.some((one) => metNear(fate, one.startedAt, Math.min(one.endedAt, now()))),
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
            faults.wereBetween(startedAt - CLAIMS_MS, endedAt + STORES_OUTCOME_MS, 'clock'),
          ) || claims.some(({ at }) => faults.wereBetween(at - CLAIMS_MS, at, 'clock')),
        'one fate: the clock was set while a page held it': () => wasClockSetInPause(fate),
        'one fate: a page without a database had paused': () => pausedWithoutDatabase(fate),
        'one fate: a write that hung was stored after all': () => wasStoredLate(before.at(-1)!.at),
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
        'honest: the clock was set before it sent what it had named': () =>
          faults.wereSince(fate.madeAt, 'clock'),
        'honest: storage faults met': () => metNear(fate, fate.madeAt),
        'honest: its page was killed before it sent what it had named': () =>
          faults.wereSince(fate.madeAt, 'kill', 'crash'),
      });
    },
  };
};
