import type { DropReason } from './client.js';
import type { Change } from './disk.js';
import type { Excuse } from './excuses.js';
import { isResolved, nameOf, type Attempt, type Fate } from './fate.js';
import type { Faults } from './faults.js';
import { createJudge } from './judge.js';
import type { Verdicts, Violate } from './verdicts.js';
import type { Witness } from './witness.js';

/** What took the last copy of a record that nothing has become of. */
const TAKEN_BY: Partial<Record<Change['by'], Excuse>> = {
  user: 'lost: the user cleared the site data',
  clear: 'lost: consent was withdrawn',
  crash: 'lost: the browser was killed before localStorage was on the disk',
};

/** Every record that a call made, and what has become of it. */
export const createLedger = (
  witness: Witness,
  faults: Faults,
  verdicts: Verdicts,
  violate: Violate,
) => {
  const { look } = verdicts;
  const judge = createJudge(witness, faults, verdicts);
  const fates = new Map<string, Fate>();
  const byName = new Map<string, Fate>();
  const flying = new Set<Attempt>();
  /** Those that were not resolved when they were looked at last. */
  const open = new Set<Fate>();

  const lookAtOrder = (fate: Fate) => {
    if (fate.user === undefined) return;
    look('order', fate);
    for (const earlier of fates.values()) {
      if (earlier.place >= fate.place) return;
      if (earlier.user !== fate.user || earlier.type !== 'identify') continue;
      if (earlier.page !== fate.page || earlier.destination !== fate.destination) continue;
      if (isResolved(earlier) || earlier.isRefused) continue;
      judge.storedBefore(earlier, fate);
    }
  };

  const lookAtHolders = (fate: Fate, attempt: Attempt) => {
    look('holder', fate);
    for (const other of flying) {
      if (other.ids.includes(fate.id)) judge.sentTwice(fate, other, attempt);
    }
  };

  /** A page has reported an outcome after which nothing may follow. */
  const settle = (fate: Fate, page: string) => {
    fate.claims.push({ page, at: witness.now() });
    if (fate.claims.length > 1) judge.reportedAgain(fate);
  };

  const begin = (fate: Fate, attempt: Attempt) => {
    if (fate.destination !== attempt.destination) {
      violate('destination', `${nameOf(fate)} goes to ${attempt.destination}`);
    }
    lookAtHolders(fate, attempt);
    fate.attempts.push(attempt);
  };

  const close = (fate: Fate, isKept: boolean) => {
    look('lost', fate);
    if (!isResolved(fate)) {
      const [invariant, how] = isKept ? ['ends', 'still kept'] : ['lost', 'lost'];
      violate(invariant, `${nameOf(fate)} is ${how} (${fate.attempts.length} attempts)`);
    }
    const { stored, unknown, dropped, lostBy } = fate;
    if (lostBy && stored + unknown + dropped.length === 0) verdicts.excuse(lostBy, fate);
  };

  return {
    fates: fates as ReadonlyMap<string, Fate>,
    byName: (name: string) => byName.get(name),
    /** How many records are not resolved; 1 or more if any is. */
    unresolved: (): number => {
      for (const fate of open) {
        if (!isResolved(fate)) break;
        open.delete(fate);
      }
      return open.size;
    },
    /** A call has made a record. */
    made: (parts: Pick<Fate, 'id' | 'name' | 'type' | 'user' | 'destination' | 'page'>): void => {
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
        keeper: parts.page,
        lostBy: undefined,
      };
      if (fates.has(fate.id)) violate('ids', `two records have the id ${fate.id}`);
      fates.set(fate.id, fate);
      open.add(fate);
      byName.set(fate.name, fate);
    },
    /** A request starts. */
    started: (attempt: Attempt): void => {
      for (const id of attempt.ids) {
        const fate = fates.get(id);
        if (fate) begin(fate, attempt);
        else violate('ids', `a request has a record that no call made: ${id}`);
      }
      flying.add(attempt);
    },
    /** A request has ended for its page. Only the first end counts. */
    ended: (attempt: Attempt, end: NonNullable<Attempt['end']>): void => {
      if (!attempt.end) Object.assign(attempt, { end, endedAt: witness.now() });
      flying.delete(attempt);
    },
    /** The same request without keepalive, because the browser refused it with: no attempt of its own. */
    isFallback: ({ ids, page, keepalive, reports }: Attempt): boolean => {
      const { attempts, isOverBudget } = fates.get(ids[0]!) ?? { attempts: [] };
      const before = attempts.at(-1);
      const isAgain = before?.page === page && before.keepalive && before.reports === reports;
      return !keepalive && (isAgain || !!isOverBudget);
    },
    /** The browser has refused to keep a request of the record alive. */
    overBudget: (id: string): void => {
      const fate = fates.get(id);
      if (fate) fate.isOverBudget = true;
    },
    /** The service has refused the record. */
    refused: (name: string): void => {
      const fate = byName.get(name);
      if (fate) fate.isRefused = true;
    },
    /** The service has stored the record. */
    stored: (fate: Fate, attempt: Attempt): void => {
      look('once', fate);
      if (fate.stored === 0) lookAtOrder(fate);
      for (const earlier of fate.attempts) {
        if (earlier !== attempt && earlier.stored.has(fate.id))
          judge.storedAgain(fate, earlier, attempt);
      }
      if (fate.dropped.includes('rejected')) {
        violate('one fate', `${nameOf(fate)} is stored, and was dropped as rejected`);
      }
      attempt.stored.add(fate.id);
      fate.stored++;
    },
    /** A page reports an outcome. */
    outcome: (page: string, id: string, outcome: string): void => {
      const fate = fates.get(id);
      if (!fate) return violate('ids', `an outcome of no record: ${id}`);
      fate.reports++;
      look('honest', fate);
      if (outcome !== 'delivered' && outcome !== 'unknown') return;
      fate[outcome]++;
      if (outcome === 'delivered' && fate.stored === 0) {
        violate('honest', `${nameOf(fate)} counts as delivered, and is not`);
      }
      if (outcome === 'unknown' && fate.attempts.length + fate.dropped.length === 0) {
        judge.unknownUnsent(fate);
      }
      look('one fate', fate);
      settle(fate, page);
    },
    /** A page reports that it has dropped the record. */
    dropped: (page: string, id: string, reason: DropReason): void => {
      const fate = fates.get(id);
      if (!fate) return;
      if (reason === 'rejected' && !fate.isRefused) {
        violate('honest', `${nameOf(fate)} is dropped as rejected, and was not`);
      }
      fate.dropped.push(reason);
      look('one fate', fate);
      settle(fate, page);
    },
    /** The last copy in any store is gone. */
    gone: (id: string, { page, by }: Change): void => {
      const fate = fates.get(id);
      if (!fate) return;
      if (!isResolved(fate)) fate.lostBy = TAKEN_BY[by];
      if (by === 'transaction' && !isResolved(fate) && fate.delivered === 0) {
        violate('kept', `${page} deletes ${nameOf(fate)}, of which nothing has become yet`);
      }
      fate.keeper = page;
    },
    /** A page ended in a way that leaves nobody what only its memory had. `why` says what excuses that, if anything does. */
    endedWith: (
      page: string,
      isKept: (id: string) => boolean,
      why: (fate: Fate) => Excuse | undefined,
    ): void => {
      for (const fate of fates.values()) {
        if (isResolved(fate) || isKept(fate.id) || fate.keeper !== page) continue;
        fate.lostBy = why(fate);
      }
    },
    /** The world is over, and nothing is wrong any more. */
    close: (isKept: (id: string) => boolean): void => {
      for (const fate of fates.values()) close(fate, isKept(fate.id));
    },
  };
};

export type Ledger = ReturnType<typeof createLedger>;
