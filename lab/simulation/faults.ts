/** What may go wrong with what pages store and know. No kind brings another about. */
export type FaultKind =
  /** IndexedDB aborts, hangs, refuses, is too slow to wait for, or is closed under a page. */
  | 'database'
  /** What a page wrote into IndexedDB as it left is lost. */
  | 'exit write'
  /** localStorage is full or blocked. */
  | 'localStorage'
  /** What a page wrote into localStorage as it left is lost. */
  | 'exit note'
  /** The clock was set. */
  | 'clock'
  /** The user cleared the site's data. */
  | 'clearing'
  /** A page was killed, or the whole browser. */
  | 'kill'
  /** The browser was killed, and lost what was written last into localStorage. */
  | 'crash';

interface Fault {
  kind: FaultKind;
  /** The only page that it concerns; undefined where it concerns all. */
  page: string | undefined;
  from: number;
  to: number;
  /** It is what another fault has left behind in a page: it can meet others, and is no cause by itself. */
  isEffect?: boolean;
}

/** Two faults meet when no more time than this lies between them. */
const MEET_MS = 10_000;

/** Every fault of a world, and how long it lasted. */
export const createFaults = (now: () => number) => {
  const faults: Fault[] = [];

  const causes = () => faults.filter(({ isEffect }) => !isEffect);
  const isNear = ({ from, to }: Fault, least: number, most: number): boolean =>
    from <= most + MEET_MS && to >= least - MEET_MS;

  return {
    /** It lasts until `end`. */
    begin: (kind: FaultKind): void => {
      faults.push({ kind, page: undefined, from: now(), to: Infinity });
    },
    end: (kind: FaultKind): void => {
      for (const fault of causes()) if (fault.kind === kind) fault.to = Math.min(fault.to, now());
    },
    /** The page works without a database, whether one would work by now or not. Answers with what ends it. */
    beginEffect: (page: string): (() => void) => {
      const fault: Fault = { kind: 'database', page, from: now(), to: Infinity, isEffect: true };
      faults.push(fault);
      return () => {
        fault.to = now();
      };
    },
    /** It is over in a moment. */
    happen: (kind: FaultKind, page?: string): void => {
      faults.push({ kind, page, from: now(), to: now() });
    },
    /** One of these kinds has lasted at some time since then. */
    wereSince: (time: number, ...kinds: FaultKind[]): boolean =>
      causes().some(({ kind, to }) => to >= time && kinds.includes(kind)),
    /** One of this kind lasted at some time in this period. */
    wereBetween: (from: number, to: number, kind: FaultKind): boolean =>
      causes().some((fault) => fault.kind === kind && fault.from <= to && fault.to >= from),
    /** One of this kind that had lasted for so long ended in this period. */
    endedBetween: (from: number, to: number, kind: FaultKind, leastMs: number): boolean =>
      causes().some(
        (fault) =>
          fault.kind === kind &&
          from <= fault.to &&
          fault.to <= to &&
          fault.to - fault.from >= leastMs,
      ),
    /** Two faults of different kinds met near this period, and both concerned one of these pages. */
    metNear: (from: number, to: number, pages: ReadonlySet<string>): boolean => {
      const near = faults.filter(
        (fault) => isNear(fault, from, to) && (!fault.page || pages.has(fault.page)),
      );
      return near.some((one) =>
        near.some((other) => other.kind !== one.kind && isNear(one, other.from, other.to)),
      );
    },
  };
};

export type Faults = ReturnType<typeof createFaults>;
