import { LONGEST_STORED_MS, type Gate } from './client.js';
import type { Disk } from './disk.js';
import type { Faults } from './faults.js';
import type { Verdicts } from './verdicts.js';

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

/** Watches the waits after failures, which pages share: nobody may send too early, or shorten a wait for no reason. */
export const createPenalties = ({ now, clock, shelf, faults, verdicts }: Effects) => {
  /** By page and destination: until when the service has asked for a wait. */
  const floors = new Map<string, { until: number; since: number }>();
  /** What pages have written in this step, and what stood there before. */
  const written = new Map<string, { page: string; before: string | undefined }>();
  /** When the end of a wait was written last. */
  const closedAt = new Map<string, number>();
  /** When a page was told last that things may be different: it is online, or has another set-up. */
  const hopes = new Map<string, number>();
  /** The page that hears in this step that the service has taken a record, or refused it in a proper way. */
  let taker: string | undefined;

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

  const waitUntil = (value: string | undefined, isOnlyAsked = false): number => {
    const { until = 0, isAsked = false } = read(value) ?? {};
    if (isOnlyAsked && !isAsked) return 0;
    const wait = until - clock();
    return wait > LONGEST_STORED_MS ? 0 : wait; // the clock was set back
  };

  /** A wait ends early where a record was taken, or a page was told that things may be different. */
  const checkShorter = (key: string, page: string, before?: string, value?: string) => {
    const wait = waitUntil(before);
    const since = closedAt.get(key) ?? -1;
    const hasHope = (hopes.get(page) ?? -1) >= since;
    const subject = look();
    if (wait <= 1 || waitUntil(value) >= wait || taker === page || hasHope) return;
    accuse(subject, `${page} makes a wait of ${wait} ms shorter`, since);
  };

  /** How much longer the shared gate is closed for this page. */
  const waitOf = (page: string, destination: string, isOnlyAsked: boolean): number => {
    const part = destination.replace('/a', '');
    const key = [...shelf.keys()].find((k) => isGate(k) && k.includes(part));
    if (!key) return 0;
    const value = shelf.get(key);
    const own = written.get(key);
    const before = own?.page === page ? own.before : value;
    return Math.min(waitUntil(value, isOnlyAsked), waitUntil(before, isOnlyAsked));
  };

  return {
    /** A page is about to send. Where it hands a record off that may arrive twice, only the service's wish counts. */
    started: (page: string, destination: string, isSafeHandoff: boolean): void => {
      const subject = look();
      const floor = floors.get(`${page} ${destination}`);
      if (floor && clock() < floor.until) {
        accuse(subject, `${page} sends ${floor.until - clock()} ms before it may`, floor.since);
      }
      const wait = waitOf(page, destination, isSafeHandoff);
      if (wait > 0) accuse(subject, `${page} sends ${wait} ms before the gate opens`, now() - 1);
    },
    /** The service has taken a record of the page, or refused it in a proper way: it is well. */
    took: (page: string, destination: string): void => {
      taker = page;
      for (const key of floors.keys()) if (key.endsWith(` ${destination}`)) floors.delete(key);
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
      taker = undefined;
    },
  };
};
