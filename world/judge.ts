import type { DropReason, RecordType, StorageKind } from '../src/client/types.js';
import { BAD } from './service.js';
import { createWaits } from './waits.js';

/** What holds in a family of worlds, beside what always does. */
export interface Promised {
  /** The service stores a record at most once. */
  once: boolean;
  /** An identify is stored before the later records of its user. */
  inOrder: boolean;
  /** Pages report at most one end of a record. */
  oneFate: boolean;
  /** No request is sent before its wait is over: that of the record, and that of the destination, if all pages know it. */
  waits: 'of both' | 'of records' | 'of none';
  /** Pages store a record within this time of its call. After that, killing its page does not lose it. */
  storedWithinMs: number;
}

/** What became of one record. */
interface Fate {
  id: string;
  name: string;
  type: RecordType;
  user: string | undefined;
  destination: string;
  page: string;
  madeAt: number;
  /** Since when its page may store it: a page whose consent is pending keeps it in memory alone. */
  storableAt: number;
  /** Requests that its pages started with it. */
  sent: number;
  stored: number;
  isHandedOff: boolean;
  /** It is in the note of a page without a database, which nobody can take before a page has one again. */
  isSetAside: boolean;
  /** Its ends, as pages have reported them. */
  ends: string[];
  /** By page: the wait that came with the last answer, in milliseconds. */
  asked: Map<string, number>;
  /** Nobody could keep it, and that is in the promise: it was in memory alone, or consent was denied. */
  mayBeLost: boolean;
}

/** Between the choice of a record and its request, storage may name it. */
const NAMING_MS = 150;
/** A lease ends at most so long after its page has last written to its database, and by then the page has heard of that. */
const LEASE_MS = 60_000;
/** A database that fails has hung for a second first, and its lease may be a little older. */
const EARLY_MS = 10_000;

/** Sees every record and request of a world, and says what breaks a promise. */
export const createJudge = (
  promised: Promised,
  knowsRepeats: boolean,
  /** Whole milliseconds, as pages count them. */
  now: () => number,
  violate: (invariant: string, message: string) => void,
) => {
  const waits = createWaits(
    { areShared: promised.waits === 'of both', knowsRepeats },
    now,
    (message) => promised.waits !== 'of none' && violate('waits', message),
  );
  const fates = new Map<string, Fate>();
  const byName = new Map<string, Fate>();
  /** Since when the database of a page has failed. */
  const failedSince = new Map<string, number>();
  let maxAge = Infinity;

  /** Its page may have left it to a note, since its database has failed for longer than a lease lasts. */
  const isLeftToNote = ({ page, madeAt }: Fate): boolean => {
    const since = failedSince.get(page) ?? Infinity;
    return now() - since > LEASE_MS - EARLY_MS && madeAt - since < LEASE_MS;
  };

  const isResolved = ({ stored, ends, mayBeLost }: Fate): boolean =>
    stored + ends.length > 0 || mayBeLost;

  const checkOrder = (fate: Fate) => {
    if (fate.user === undefined) return;
    for (const earlier of fates.values()) {
      if (earlier === fate) return;
      const isBefore =
        earlier.user === fate.user &&
        earlier.type === 'identify' &&
        earlier.page === fate.page &&
        earlier.destination === fate.destination &&
        !earlier.name.includes(BAD);
      // What is handed off goes all at once.
      const isFree =
        earlier.isHandedOff || fate.isHandedOff || earlier.isSetAside || isLeftToNote(earlier);
      if (isBefore && !isFree && !isResolved(earlier))
        violate('order', `${fate.name} was stored before ${earlier.name}`);
    }
  };

  const end = (fate: Fate, page: string, how: string) => {
    fate.ends.push(`${how} by ${page}`);
    if (how === 'unknown' && knowsRepeats)
      violate('honest', `${fate.name} is unknown, and may be sent again`);
    if (how === 'unknown' && promised.oneFate && !fate.sent)
      violate('honest', `${fate.name} is unknown, and was never sent`);
    if (how === 'delivered' && !fate.stored)
      violate('honest', `${fate.name} counts as delivered, and is not`);
    if (how === 'rejected' && !fate.name.includes(BAD))
      violate('honest', `${fate.name} counts as rejected, and was not`);
    if (promised.oneFate && !fate.mayBeLost && fate.ends.length > 1)
      violate('one fate', `${fate.name}: ${fate.ends.join(', ')}`);
  };

  return {
    violate,
    idOf: (name: string): string => byName.get(name)?.id ?? name,
    limitAge: (ms: number): void => void (maxAge = ms),
    /** A call has made a record. */
    made: (
      parts: Pick<Fate, 'id' | 'name' | 'type' | 'user' | 'destination' | 'page'>,
      isStorable: boolean,
    ): void => {
      if (fates.has(parts.id)) violate('ids', `two records have the id ${parts.id}`);
      const fate: Fate = {
        ...parts,
        madeAt: now(),
        storableAt: now(),
        sent: 0,
        stored: 0,
        isHandedOff: false,
        isSetAside: false,
        ends: [],
        asked: new Map(),
        mayBeLost: !isStorable,
      };
      fates.set(fate.id, fate);
      byName.set(fate.name, fate);
    },
    /** A page starts a request with these. */
    started: (page: string, destination: string, ids: string[], isHidden: boolean): void => {
      for (const id of ids) {
        const fate = fates.get(id);
        if (!fate) {
          violate('ids', `a request has a record that no call made: ${id}`);
          continue;
        }
        fate.sent++;
        fate.asked.delete(page); // an answer that the page has not heard, since it was left meanwhile
        if (fate.destination !== destination)
          violate('destination', `${fate.name} goes to ${destination}`);
        waits.started(page, fate, isHidden);
        if (promised.waits !== 'of none' && now() - fate.madeAt > maxAge + NAMING_MS)
          violate('caps', `${page} sends what is older than it may be`);
      }
    },
    /** A page says that it has sent a record. */
    sent: (page: string, id: string, isHandoff: boolean): void => {
      const fate = fates.get(id);
      if (!fate) return;
      waits.sent(page, fate, isHandoff);
      fate.sent++; // the browser may have refused it
      fate.isHandedOff ||= isHandoff;
    },
    stored: (id: string): void => {
      const fate = fates.get(id);
      if (!fate) return;
      if (promised.inOrder && !fate.stored) checkOrder(fate);
      if (++fate.stored > 1 && (promised.once || knowsRepeats))
        violate('once', `${fate.name} is stored again`);
    },
    /** The answer to a page's request with these asks for a wait of so many seconds. */
    answered: (page: string, ids: string[], seconds = 0): void => {
      for (const id of ids) fates.get(id)?.asked.set(page, seconds * 1_000);
    },
    /** A page reports an outcome of a record. */
    outcome: (page: string, id: string, outcome: string): void => {
      const fate = fates.get(id);
      if (!fate) return violate('ids', `an outcome of no record: ${id}`);
      if (outcome === 'delivered' || outcome === 'unknown') end(fate, page, outcome);
      if (outcome === 'delivered' || outcome === 'rejected') waits.passed(page, fate.destination);
      if (outcome !== 'retry' && outcome !== 'blocked') return;
      waits.failed(page, fate, fate.asked.get(page) ?? 0);
      fate.asked.delete(page);
    },
    /** A page reports that it has dropped a record. */
    dropped: (page: string, id: string, reason: DropReason): void => {
      const fate = fates.get(id);
      if (fate) end(fate, page, reason);
    },
    online: waits.online,
    /** A page is told about consent. */
    consented: (page: string, isGranted: boolean): void => {
      for (const fate of fates.values())
        if (fate.page === page) fate.storableAt = isGranted ? now() : Infinity;
    },
    /** A page says that its database has failed, or works again. */
    stores: (page: string, kind: StorageKind): void => {
      const since = failedSince.get(page) ?? now();
      if (kind === 'memory') failedSince.set(page, since);
      // After that long, what is in a note comes when a page has read it.
      if (kind === 'indexeddb' && now() - since <= LEASE_MS - EARLY_MS) failedSince.delete(page);
    },
    /** A page without a database leaves all that it has, and goes on. */
    setAside: (page: string): void => {
      for (const fate of fates.values()) fate.isSetAside ||= fate.page === page;
    },
    /** Pages were killed: what was in memory alone may be lost, if it is as young as that. So may be what they have just heard. */
    killed: (isStored: (id: string) => boolean): void => {
      waits.killed(promised.storedWithinMs);
      for (const fate of fates.values()) {
        const isYoung = now() - fate.storableAt <= promised.storedWithinMs;
        if (isYoung && !isStored(fate.id)) fate.mayBeLost = true;
      }
    },
    /** All that was called until now may be lost: consent is denied, or the user has cleared the site's data. */
    release: (): void => {
      waits.forget();
      for (const fate of fates.values()) fate.mayBeLost = true;
    },
    isOver: (): boolean => [...fates.values()].every(isResolved),
    /** The world is over, and nothing is wrong any more. */
    close: (): void => {
      for (const fate of fates.values()) {
        if (!isResolved(fate)) violate('lost', `${fate.name} of ${fate.page}`);
      }
    },
  };
};

export type Judge = ReturnType<typeof createJudge>;
