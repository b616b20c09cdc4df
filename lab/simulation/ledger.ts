import type { DropReason, RecordType } from '../../src/client/types.js';
import type { Change } from './disk.js';

/** One request, as the world saw it. */
export interface Attempt {
  page: string;
  destination: string;
  ids: string[];
  keepalive: boolean;
  startedAt: number;
  /** Its page was hidden, or had waited in vain for storage: nothing says yet that it is under way. */
  isRushed: boolean;
  /** Records of it that the service has stored. */
  stored: Set<string>;
  /** Outcomes that its first record had by then. */
  reports: number;
  /**
   * How it ended for its page: `answered`; `failed` while the page lived; `left` with the page, in good
   * order; `killed` with it.
   */
  end: 'answered' | 'failed' | 'left' | 'killed' | undefined;
  endedAt: number;
}

/** What became of one record. */
export interface Fate {
  id: string;
  name: string;
  type: RecordType;
  user: string | undefined;
  destination: string;
  /** Page that made it, and its place among the calls there. */
  page: string;
  place: number;
  madeAt: number;
  attempts: Attempt[];
  /** How often it is in the service's database. */
  stored: number;
  /** Outcomes that were told of it. */
  reports: number;
  delivered: number;
  unknown: number;
  dropped: DropReason[];
  /** The service has refused it. */
  isRefused: boolean;
  /** It was given to the browser last as the page was hidden or left. */
  isHandedOff: boolean;
  /** The browser has refused to keep a request of it alive; a page that leaves may never hear of that. */
  isOverBudget: boolean;
  /** Page whose memory has it, where the disk has not. */
  keeper: string;
  /** A page that had no storage took it over, and was killed. */
  isInMemory: boolean;
  /** A page was killed in the middle of a task that may have moved it from one store to another. */
  isTorn: boolean;
  /** Who said what became of it, and when. */
  claims: { page: string; at: number }[];
  /** The fault that took it, which nobody could have prevented. */
  excuse: string | undefined;
}

/** What a page looks like from outside. */
export interface Witness {
  /** What may have arrived is sent again. */
  resends: boolean;
  isRunning: (page: string) => boolean;
  /** It works from IndexedDB, as far as it knows. */
  isStoring: (page: string) => boolean;
  /** Since then, nothing has shaken what pages know of each other (clock, storage). */
  isCalmSince: (time: number) => boolean;
  /** The clock was not set, nor storage cleared, since then: leases are known to all, and end at one time. */
  wasSteadySince: (time: number) => boolean;
  /** localStorage has worked since then. */
  couldNoteSince: (time: number) => boolean;
  /** No exit note was lost since then, though it was written. */
  hasNotesSince: (time: number) => boolean;
  /** When it was left, in good order. */
  leftAt: (page: string) => number;
  /** When it was killed, frozen, or put away; before all time for one that was not. */
  stoppedAt: (page: string) => number;
  /** A page has been killed since then. */
  wasKilledSince: (time: number) => boolean;
  /** More than one page has lived since then. */
  hadCompanySince: (time: number) => boolean;
  /** A write of the page that began after this time has been stored, and so all that it wrote until then. */
  hasNoted: (page: string, since: number) => boolean;
  now: () => number;
}

/** Calls further apart may have two owners: an idle page begins a new one a timeout before its lease ends. */
const OWNER_MS = 29_000;

/** A page deletes what was answered together, a little later; a hidden one at the next second. */
const DELETE_MS = 1_050;

export type Violate = (invariant: string, message: string) => void;

/** Every record that a call made, what became of it, and what must never become of it. */
export const createLedger = (witness: Witness, violate: Violate) => {
  const fates = new Map<string, Fate>();
  const byName = new Map<string, Fate>();
  const flying = new Set<Attempt>();
  /** Pages of which others have sent something, and which others. */
  const takers = new Map<string, Set<string>>();
  /** Those of which nothing has become, as far as was seen last. */
  const open = new Set<Fate>();

  const hadNotesSince = (time: number): boolean =>
    witness.couldNoteSince(time) && witness.hasNotesSince(time);
  const isResolved = ({ stored, unknown, dropped, excuse }: Fate): boolean =>
    stored + unknown + dropped.length > 0 || excuse !== undefined;
  const inWords = ({ name, page }: Fate) => `${name} of ${page}`;

  const checkOrder = (fate: Fate, attempt: Attempt) => {
    if (fate.user === undefined) return;
    // What a page that idled has made is several owners': each may have been taken by another page.
    const others = takers.get(fate.page)?.size ?? 0;
    if (others > (attempt.page === fate.page ? 0 : 1)) return;
    // Without a database it has what was noted, and cannot know what else is stored.
    if (attempt.page !== fate.page && !witness.isStoring(attempt.page)) return;
    for (const earlier of fates.values()) {
      if (earlier.user !== fate.user || earlier.type !== 'identify') continue;
      if (earlier.page !== fate.page || earlier.destination !== fate.destination) continue;
      if (!witness.isCalmSince(earlier.madeAt) || !hadNotesSince(earlier.madeAt)) continue;
      // Of the first of which its page may have lost the lease to another.
      const areApart = fate.madeAt - earlier.madeAt > OWNER_MS;
      if (areApart && witness.hadCompanySince(earlier.madeAt)) continue;
      // Frozen for long, its page has lost what it had then to another, and does not wait for it.
      if (witness.stoppedAt(fate.page) >= earlier.madeAt) continue;
      if (earlier.place >= fate.place || isResolved(earlier) || earlier.isRefused) continue;
      if (fate.type === 'event' && (fate.isHandedOff || earlier.isHandedOff)) continue;
      // Its request went on without its page: what became of it is not known.
      const isAdrift = earlier.attempts.some(({ end }) => end === 'left' || end === 'killed');
      if (isAdrift && !witness.resends) continue;
      violate('order', `${inWords(fate)} was stored before ${inWords(earlier)}`);
    }
  };

  /** Whether a second row may follow from this attempt that stored the first. */
  const mayRepeat = (
    { madeAt, isTorn, excuse }: Fate,
    { end, keepalive, page, startedAt, isRushed }: Attempt,
  ): boolean =>
    end === 'failed' ||
    isTorn ||
    excuse !== undefined ||
    !keepalive ||
    !hadNotesSince(madeAt) ||
    !witness.wasSteadySince(madeAt) ||
    !witness.isCalmSince(startedAt) ||
    (end === 'killed' && isRushed && !witness.hasNoted(page, startedAt)) ||
    !witness.isStoring(page);

  /** Its page was killed before it could write down what it had said. */
  const isForgotten = ({ page, at }: { page: string; at: number }): boolean =>
    witness.leftAt(page) <= at ||
    (witness.stoppedAt(page) >= at && !witness.hasNoted(page, at + DELETE_MS));

  const settle = (fate: Fate, page: string) => {
    const { delivered, unknown, dropped, attempts, claims } = fate;
    const isRepeated = delivered + unknown + dropped.length > 1;
    // Never sent, it can only have been dropped twice: by a page whose lease had run out unnoticed, too.
    const isExcused =
      fate.excuse !== undefined ||
      // Each page that had it forgets it.
      (dropped.length === claims.length + 1 &&
        dropped.every((reason) => reason === 'consent-denied')) ||
      fate.isTorn ||
      attempts.length === 0 ||
      claims.some(isForgotten) ||
      attempts.some(({ page: at, startedAt }) => witness.stoppedAt(at) >= startedAt) ||
      attempts.some((attempt) => mayRepeat(fate, attempt));
    claims.push({ page, at: witness.now() });
    if (!isRepeated || isExcused) return;
    violate(
      'one fate',
      `${inWords(fate)}: delivered ${delivered}, unknown ${unknown}, dropped ${dropped.join()}`,
    );
  };

  return {
    fates: fates as ReadonlyMap<string, Fate>,
    byName: (name: string) => byName.get(name),
    /** Records of which nothing has become yet. */
    unresolved: (): number => {
      for (const fate of open) {
        if (!isResolved(fate)) break;
        open.delete(fate);
      }
      return open.size;
    },
    accepted: (
      parts: Pick<Fate, 'id' | 'name' | 'type' | 'user' | 'destination' | 'page'>,
    ): void => {
      const fate: Fate = {
        ...parts,
        place: fates.size,
        madeAt: witness.now(),
        attempts: [],
        stored: 0,
        reports: 0,
        delivered: 0,
        unknown: 0,
        dropped: [],
        isRefused: false,
        isHandedOff: false,
        isOverBudget: false,
        claims: [],
        isInMemory: false,
        isTorn: false,
        keeper: parts.page,
        excuse: undefined,
      };
      if (fates.has(fate.id)) violate('ids', `two records have the id ${fate.id}`);
      fates.set(fate.id, fate);
      open.add(fate);
      byName.set(fate.name, fate);
    },
    started: (attempt: Attempt): void => {
      for (const id of attempt.ids) {
        const fate = fates.get(id);
        if (!fate) {
          violate('ids', `a request has a record that no call made: ${id}`);
          continue;
        }
        if (fate.destination !== attempt.destination) {
          violate('destination', `${inWords(fate)} goes to ${attempt.destination}`);
        }
        // Where repeats are known, a page that is left gives away what it has under way, too.
        const mayGoOn = ({ page, startedAt }: Attempt) =>
          (witness.resends && witness.stoppedAt(page) >= startedAt) || !hadNotesSince(fate.madeAt);
        const under = [...flying].filter((one) => one.ids.includes(id) && !mayGoOn(one));
        const other = under.find(({ page }) => page !== attempt.page);
        if (
          other &&
          !fate.isTorn &&
          witness.isRunning(other.page) &&
          witness.isCalmSince(fate.madeAt)
        ) {
          violate(
            'holder',
            `${inWords(fate)} is sent by ${attempt.page} while ${other.page} sends it`,
          );
        }
        const same = under.find(({ page }) => page === attempt.page);
        if (same && !fate.isTorn && (!witness.resends || witness.isCalmSince(fate.madeAt))) {
          violate('holder', `${attempt.page} sends ${inWords(fate)} twice at a time`);
        }
        // One that has it back from another, too.
        const isTaken = [attempt, ...fate.attempts].some(({ page }) => page !== fate.page);
        if (isTaken) {
          takers.set(fate.page, (takers.get(fate.page) ?? new Set()).add(attempt.page));
        }
        fate.attempts.push(attempt);
      }
      flying.add(attempt);
    },
    ended: (attempt: Attempt, end: NonNullable<Attempt['end']>): void => {
      if (!attempt.end) Object.assign(attempt, { end, endedAt: witness.now() });
      flying.delete(attempt);
    },
    /** The same again without keepalive, since the browser refused it with: no attempt of its own. */
    isFallback: ({ ids, page, keepalive, reports }: Attempt): boolean => {
      const { attempts, isOverBudget } = fates.get(ids[0]!) ?? { attempts: [] };
      const before = attempts.at(-1);
      const isAgain = before?.page === page && before.keepalive && before.reports === reports;
      return !keepalive && (isAgain || !!isOverBudget);
    },
    flying: (page: string): Attempt[] => [...flying].filter((attempt) => attempt.page === page),
    overBudget: (id: string): void => {
      const fate = fates.get(id);
      if (fate) fate.isOverBudget = true;
    },
    refused: (name: string): void => {
      const fate = byName.get(name);
      if (fate) fate.isRefused = true;
    },
    stored: (fate: Fate, attempt: Attempt): void => {
      if (fate.stored === 0) checkOrder(fate, attempt);
      const earlier = fate.attempts.filter(({ stored }) => stored.has(fate.id));
      const unexcused = earlier.find((one) => one !== attempt && !mayRepeat(fate, one));
      if (unexcused) {
        violate(
          'once',
          `${inWords(fate)} is stored again; the first time it was ${unexcused.end ?? 'in flight'} at ${unexcused.page}`,
        );
      }
      if (fate.dropped.includes('rejected')) {
        violate('one fate', `${inWords(fate)} is stored, and was dropped as rejected`);
      }
      attempt.stored.add(fate.id);
      fate.stored++;
    },
    outcome: (page: string, id: string, outcome: string): void => {
      const fate = fates.get(id);
      if (!fate) return violate('ids', `an outcome of no record: ${id}`);
      fate.reports++;
      if (outcome === 'delivered') {
        fate.delivered++;
        if (fate.stored === 0)
          violate('honest', `${inWords(fate)} counts as delivered, and is not`);
      } else if (outcome === 'unknown') {
        fate.unknown++;
        // Killed in between, or without storage by then, a page has said that it is about to send it.
        const isMistaken =
          fate.isOverBudget ||
          witness.wasKilledSince(fate.madeAt) ||
          !witness.isCalmSince(fate.madeAt);
        if (fate.attempts.length + fate.dropped.length === 0 && !isMistaken) {
          violate('honest', `${inWords(fate)} counts as unknown, and was never sent`);
        }
      } else return;
      settle(fate, page);
    },
    dropped: (page: string, id: string, reason: DropReason): void => {
      const fate = fates.get(id);
      if (!fate) return;
      if (reason === 'rejected' && !fate.isRefused) {
        violate('honest', `${inWords(fate)} is dropped as rejected, and was not`);
      }
      fate.dropped.push(reason);
      settle(fate, page);
    },
    /** The last copy on the disk is gone. */
    gone: (id: string, { page, by }: Change): void => {
      const fate = fates.get(id);
      if (!fate) return;
      if (by === 'user') fate.excuse ??= isResolved(fate) ? undefined : 'storage was cleared';
      if (by === 'clear') fate.excuse ??= isResolved(fate) ? undefined : 'consent was withdrawn';
      if (fate.isInMemory) fate.excuse ??= isResolved(fate) ? undefined : 'its page had no storage';
      if (by === 'transaction' && !isResolved(fate) && fate.delivered === 0) {
        violate('kept', `${page} deletes ${inWords(fate)}, of which nothing has become yet`);
      }
      fate.keeper = page;
    },
    /**
     * A page was killed in the middle of a task, perhaps between two stores of which one moves what the other
     * has: nothing can write both at once.
     */
    torn: (isNoted: (id: string) => boolean, isInMemory: boolean): void => {
      for (const fate of fates.values()) {
        fate.isTorn ||= isNoted(fate.id) || (isInMemory && !isResolved(fate));
      }
    },
    /** A page has died in a way that leaves what only its memory has to nobody. */
    lostWith: (page: string, isKept: (id: string) => boolean, excuse: string): void => {
      for (const fate of fates.values()) {
        if (fate.page === page) fate.isInMemory ||= !witness.isStoring(page);
        if (isResolved(fate) || isKept(fate.id) || fate.keeper !== page) continue;
        fate.excuse = excuse;
      }
    },
    /** All is over, and nothing is wrong any more. */
    close: (isKept: (id: string) => boolean): void => {
      for (const fate of fates.values()) {
        if (isResolved(fate) || !(isKept(fate.id) || witness.couldNoteSince(fate.madeAt))) continue;
        violate(
          isKept(fate.id) ? 'ends' : 'lost',
          `${inWords(fate)} is ${isKept(fate.id) ? 'still kept' : 'lost'} (${fate.attempts.length} attempts)`,
        );
      }
    },
  };
};

export type Ledger = ReturnType<typeof createLedger>;
