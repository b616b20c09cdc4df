/** The least wait after a failure, in milliseconds, when the first failure was so long ago. */
const leastWait = (trouble: number): number =>
  Math.min(Math.max(trouble / 2, 1_000), 5 * 60_000) / 2;
/** A request that fails so soon goes once more without keepalive: the browser may have refused that. */
const REFUSAL_MS = 60;

/** What pages know of a record's failures. */
interface RecordTrouble {
  /** The first failure; Infinity if there is none, or if the page that saw it may not have stored it. */
  first: number;
  /** The first failure, although its page may not have stored it. */
  perhapsFirst: number;
  /** The last failure; -Infinity if there is none, or if the page that saw it may not have stored it. */
  last: number;
  /** When a page last said that it sends the record. */
  sentAt: number;
}

/** What pages know of a destination's failures. */
interface DestinationTrouble {
  /** The first failure without a success since; Infinity if there is none. */
  since: number;
  /** No request may start before this time. */
  until: number;
  /** No request may start before this time, since the service has asked for that. */
  askedUntil: number;
  /** Whether the service has asked for the last wait. */
  isAsked: boolean;
  /** Whether the last wait is surely over. Chance makes waits longer, so that only a request or a success shows this. */
  isOver: boolean;
  changedAt: number;
}

/** A record that a page sends, or that has failed. */
export interface Tried {
  id: string;
  name: string;
  destination: string;
}

/**
 * The rule of waits, for a record and for a destination: after a failure comes a wait of half of the time since the first
 * failure, 1 s at least and 5 min at most, less up to half of that by chance. All pages obey it. Where a page may not
 * know of a failure, nothing is demanded.
 *
 * @param areShared whether all pages know the waits of a destination
 * @param knowsRepeats whether the receiver recognises repeats, so that pages that are left need not wait
 */
export const createWaits = (
  { areShared, knowsRepeats }: { areShared: boolean; knowsRepeats: boolean },
  now: () => number,
  violate: (message: string) => void,
) => {
  const records = new Map<string, RecordTrouble>();
  const destinations = new Map<string, DestinationTrouble>();
  /** By page and destination: the last success there. */
  const passedAt = new Map<string, number>();
  /** When a page last heard that it is online, which ends the waits that the service has not asked for. */
  let onlineAt = -Infinity;

  const recordOf = (id: string): RecordTrouble => {
    const found = records.get(id) ?? {
      first: Infinity,
      perhapsFirst: Infinity,
      last: -Infinity,
      sentAt: -Infinity,
    };
    records.set(id, found);
    return found;
  };
  const destinationOf = (name: string): DestinationTrouble => {
    const found = destinations.get(name) ?? {
      since: Infinity,
      until: 0,
      askedUntil: 0,
      isAsked: false,
      isOver: true,
      changedAt: 0,
    };
    destinations.set(name, found);
    return found;
  };

  const check = (page: string, { id, name, destination }: Tried, mayBeHandoff: boolean) => {
    const { first, last } = recordOf(id);
    const trouble = destinationOf(destination);
    const mayGoSooner = mayBeHandoff && knowsRepeats;
    const demand = (time: number, whose: string) => {
      if (now() < time) violate(`${page} sends ${name} ${time - now()} ms too soon for ${whose}`);
    };
    if (!mayGoSooner && onlineAt < last) demand(last + leastWait(last - first), 'the record');
    if (!areShared) return;
    demand(trouble.askedUntil, 'the service, which has asked for a wait');
    if (mayGoSooner) return;
    demand(trouble.until, 'its destination');
    trouble.isOver = true;
    trouble.isAsked = false;
  };

  return {
    /** A page starts a request with the record. */
    started: (page: string, record: Tried, isHidden: boolean): void => {
      const { sentAt, last } = recordOf(record.id);
      const isAgain = sentAt > last && now() - sentAt < REFUSAL_MS;
      if (!isAgain) check(page, record, isHidden);
    },
    /** A page says that it sends the record. */
    sent: (page: string, record: Tried, isHandoff: boolean): void => {
      check(page, record, isHandoff);
      recordOf(record.id).sentAt = now();
      const isInTrouble = destinationOf(record.destination).since < Infinity;
      if (areShared && isHandoff && isInTrouble && !knowsRepeats)
        violate(`${page} hands ${record.name} off, and its destination is in trouble`);
    },
    /** A page hears that the record has failed, and that the service asks for a wait of so many milliseconds. */
    failed: (page: string, { id, destination }: Tried, asked: number): void => {
      const time = now();
      const record = recordOf(id);
      const trouble = destinationOf(destination);
      const passed = passedAt.get(`${page} ${destination}`) ?? -Infinity;
      // If other records have passed since it began to fail, or pass in the same answer, that is no trouble of all.
      const isOfAll = !(record.perhapsFirst < passed) && passed !== time;
      record.last = time;
      record.first = Math.min(record.first, time);
      record.perhapsFirst = Math.min(record.perhapsFirst, time);
      if (isOfAll || asked) trouble.since = Math.min(trouble.since, time);
      // During a wait, a failure changes nothing, unless the service asks for more.
      if ((isOfAll && trouble.isOver) || asked)
        trouble.until = Math.max(trouble.until, time + leastWait(time - trouble.since));
      trouble.isOver = false;
      trouble.isAsked ||= asked > 0;
      if (asked) trouble.askedUntil = Math.max(trouble.askedUntil, time + asked);
      trouble.changedAt = time;
    },
    /** A page hears that a record was taken, or refused in a proper way. */
    passed: (page: string, destination: string): void => {
      const trouble = destinationOf(destination);
      passedAt.set(`${page} ${destination}`, now());
      trouble.since = Infinity;
      trouble.changedAt = now();
      if (trouble.isAsked) return;
      trouble.until = 0;
      trouble.isOver = true;
    },
    /** A page hears that it is online. */
    online: (): void => {
      onlineAt = now();
      for (const trouble of destinations.values()) if (!trouble.isAsked) trouble.until = 0;
    },
    /** A page was killed: what it has heard in this moment may not be stored, nor what it has heard of records for a while. */
    killed: (storedWithinMs: number): void => {
      const isYoung = (time: number) => now() - time <= storedWithinMs;
      for (const record of records.values()) {
        if (isYoung(record.first)) record.first = Infinity;
        if (isYoung(record.last)) record.last = -Infinity;
      }
      for (const trouble of destinations.values()) {
        if (trouble.changedAt !== now()) continue;
        Object.assign(trouble, { since: Infinity, until: 0, askedUntil: 0, isOver: false });
      }
    },
    /** Nothing is stored any more. */
    forget: (): void => destinations.clear(),
  };
};
