import type { Disk } from './disk.js';
import type { Faults } from './faults.js';
import type { Verdicts } from './verdicts.js';

/** A page that probes makes the others wait for this time. */
const PROBE_MS = 5_000;
/** No penalty is longer. */
const LONGEST_PENALTY = 2 * 3_600_000;

interface Gate {
  n: number;
  until: number;
}

interface Effects {
  now: () => number;
  /** The clients' clock. */
  clock: () => number;
  shelf: Disk['shelf'];
  faults: Faults;
  verdicts: Verdicts;
}

const read = (value: string | undefined) => (value ? (JSON.parse(value) as Gate) : undefined);

const isGate = (key: string): boolean => key.endsWith(' gate');

/** Watches the waits that services asked for and pages share: nobody may send too early, or shorten a wait. */
export const createPenalties = ({ now, clock, shelf, faults, verdicts }: Effects) => {
  /** Until when a service has asked a page to wait. */
  const floors = new Map<string, { until: number; since: number }>();
  /** What pages have written in this step, and what stood there before. */
  const written = new Map<string, { page: string; before: string | undefined }>();
  /** The page that has closed a gate for the others while it probes, and the wait that stood there before. */
  const reservations = new Map<
    string,
    { page: string; value: string; before: string | undefined }
  >();
  /** When the end of a wait was written last. */
  const closedAt = new Map<string, number>();
  /** By page: the latest start of the requests that were answered in this step. */
  const answered = new Map<string, number>();
  /** When a page was told last that things may be different: it is online, or has another set-up. */
  const hopes = new Map<string, number>();

  /** Requests and changes of a wait that were looked at. */
  let looks = 0;
  const look = () => {
    const subject = { id: String(++looks) };
    verdicts.look('penalty', subject);
    return subject;
  };
  const accuse = (subject: { id: string }, message: string, since: number) => {
    verdicts.accuse('penalty', subject, message, {
      'penalty: storage or the clock failed': () =>
        faults.wereSince(since, 'database', 'localStorage', 'crash', 'clock', 'clearing'),
    });
  };

  const hoped = (page: string): void => {
    hopes.set(page, now());
  };

  const waitUntil = (value: string | undefined): number => {
    const wait = (read(value)?.until ?? 0) - clock();
    return wait > LONGEST_PENALTY ? 0 : wait; // the clock was set back
  };

  const noteReservation = (key: string, page: string, before?: string, value?: string) => {
    const [was, is] = [read(before), read(value)];
    // What it hides may have stood in the page's memory alone, with more failures, while localStorage failed.
    if (!is || (was && was.n > is.n) || is.until - clock() !== PROBE_MS) return;
    // Made anew, it hides the same.
    const earlier = reservations.get(key);
    const hidden = earlier?.page === page && earlier.value === before ? earlier.before : before;
    reservations.set(key, { page, value: value!, before: hidden });
  };

  /** A wait ends early by an answer to a request from after it began, and by nothing else. */
  const checkShorter = (key: string, page: string, before?: string, value?: string) => {
    const wait = waitUntil(before);
    const reserved = reservations.get(key);
    const isOwn = reserved?.page === page && read(reserved.value)?.until === read(before)?.until;
    const since = closedAt.get(key) ?? -1;
    const isAnswered = (answered.get(page) ?? -1) >= since;
    const hasHope = (hopes.get(page) ?? -1) >= since;
    const subject = look();
    if (wait <= 1 || waitUntil(value) >= wait || isOwn || isAnswered || hasHope) return;
    // Its own wait, from while localStorage failed, may hide what others have agreed on since.
    const asked = Math.min(since, answered.get(page) ?? since);
    accuse(subject, `${page} makes a wait of ${wait} ms shorter`, asked);
  };

  /** How much longer the shared gate is closed for this page. A page that probes closes it for the others only. */
  const waitOf = (page: string, destination: string): number => {
    const part = destination.replace('/a', '');
    const key = [...shelf.keys()].find((k) => isGate(k) && k.includes(part));
    if (!key) return 0;
    const value = shelf.get(key);
    const own = written.get(key);
    const reserved = reservations.get(key);
    const isOwn = reserved?.page === page && reserved.value === value;
    const before = isOwn ? reserved.before : own?.page === page ? own.before : value;
    return Math.min(waitUntil(value), waitUntil(before));
  };

  return {
    /** A page is about to send. */
    started: (page: string, destination: string): void => {
      const subject = look();
      const floor = floors.get(`${page} ${destination}`);
      if (floor && clock() < floor.until) {
        accuse(subject, `${page} sends ${floor.until - clock()} ms before it may`, floor.since);
      }
      const wait = waitOf(page, destination);
      if (wait > 0) accuse(subject, `${page} sends ${wait} ms before the gate opens`, now() - 1);
    },
    answered: (page: string, startedAt: number): void => {
      answered.set(page, Math.max(startedAt, answered.get(page) ?? -1));
    },
    /** A service has asked a page to wait. */
    asked: (page: string, destination: string, seconds: number): void => {
      floors.set(`${page} ${destination}`, { until: clock() + seconds * 1_000, since: now() });
    },
    /** A page has changed localStorage. */
    wrote: (
      page: string,
      key: string,
      before: string | undefined,
      value: string | undefined,
    ): void => {
      if (!isGate(key)) return;
      if (!written.has(key)) written.set(key, { page, before });
      checkShorter(key, page, before, value);
      noteReservation(key, page, before, value);
      // One that does not last longer than the probe's own changes nothing.
      if (read(before)?.until !== read(value)?.until) closedAt.set(key, now());
    },
    /** A page is told that things may be different. */
    hoped,
    /** A new set-up is tried at once. */
    configured: (page: string): void => {
      floors.clear();
      hoped(page);
    },
    /** The next step begins. */
    stepped: (): void => {
      written.clear();
      answered.clear();
    },
  };
};
