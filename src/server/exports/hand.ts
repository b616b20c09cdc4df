import { lineOf, PATIENCE, type Incoming } from '../incoming.js';
import type { NextTry, ParkedRow, StoredRecord } from '../store/parked.js';
import type { Progress, TargetLock } from '../store/progress.js';
import { monotonicNow, sleep } from '../time.js';

/** Rows in hand at the most; so many new ones at least are read at a time, and so many with one key at the most. */
const [WINDOW, LEAST, WITH_KEY] = [256, 32, 32];
/** Of the rows in hand, those that have failed before may be a quarter. */
const MOST_FAILED = WINDOW / 4;
/** The longest time for which an answer is not durable because rows before it have none. These are parked then. */
const SLOW_MS = 250;
/** How often parked rows are looked for at the least. */
const LOOK_MS = 2_000;
/** Pauses before a commit is tried again: if rows before it may have an answer soon, and if the database has failed. */
const [SOON_MS, AGAIN_MS] = [20, 500];

/** What became of a row that was sent. `untried`: it was not, since its client or an earlier identify has to wait. */
export type Outcome =
  { is: 'done' } | { is: 'dead'; message: string } | { is: 'failed' | 'untried'; waitMs: number };

/** What becomes of a row: it leaves the hand, or is parked. */
type End =
  | { is: 'done' }
  | { is: 'dead'; message: string }
  | { is: 'parked'; behind?: string | undefined; due?: number | undefined };

/** A row in hand: from when it is read until the store knows what became of it. */
export interface InHand {
  place: number;
  record: Incoming;
  /** '' if it has none. */
  line: string;
  /** How often it has failed, and since when; 0 if it has not. */
  tries: number;
  since: number;
  /** It was read because it is parked, or the place of the target has passed it meanwhile. */
  isParked: boolean;
  /** What it was parked behind. */
  key: string | undefined;
  isGoing: boolean;
  isErased: boolean;
  end?: End | undefined;
  endedAt: number;
  /** Frees its place among the requests under way. */
  settle: () => void;
}

type Found = Pick<InHand, 'place' | 'tries' | 'since' | 'isParked' | 'key'>;

interface Parts {
  progress: Pick<Progress, 'parked' | 'bury'>;
  lock: TargetLock;
  /** Sends a row. Undefined: it stays in hand, and is sent again. `settled`: when the store knows its end. */
  send: (row: InHand, settled: Promise<void>) => Promise<Outcome | undefined>;
  /** How many rows have an end without being durable at the most. */
  most: number;
  /** Called when rows have left the hand or may be sent again. */
  changed: () => void;
  /** Called after each commit, with the error if it has failed. */
  committed: (error?: unknown) => void;
  /** Called if another process has the target. */
  lost: () => void;
  /** Called with how many of the oldest refused rows were forgotten. */
  dropped: (count: number) => void;
}

const isIdentify = ({ record }: InHand): boolean => record.type === 'identify';

/**
 * The rows that are being passed on. The place of the target is moved behind those that have an end. If one of them takes
 * long, the place goes on as well, and the row is parked until its answer is there; so a process that is killed leaves no
 * more rows in doubt than are under way.
 */
export const createHand = (parts: Parts) => {
  const { lock, send, most, changed, committed, lost, dropped } = parts;
  const { parked, bury } = parts.progress;
  const { target } = lock;
  const rows = new Map<number, InHand>();
  /** All rows up to `place` are done or parked. All up to `readTo` are, or are in hand. */
  let { place } = lock;
  let readTo = place;
  /** Clients that may have parked rows, and until when they wait. */
  const waiting = new Map<string, number>();
  /** When parked rows are due. */
  let dueAt = 0;
  /** How many commits have parked rows. */
  let parkings = 0;
  /** While parked rows are looked for: the places of rows that have left the hand meanwhile. */
  let left: Set<number> | undefined;
  let committing: Promise<void> | undefined;
  let isOver = false;

  const all = (): InHand[] => [...rows.values()];

  /** Whether an identify of its line is in hand that was put before it and is to be parked. */
  const isBehind = (row: InHand): boolean =>
    all().some(
      (one) =>
        one.end?.is === 'parked' &&
        isIdentify(one) &&
        one.line === row.line &&
        one.place < row.place &&
        (isIdentify(row) || one.tries < PATIENCE),
    );

  const endOf = (row: InHand, outcome: Outcome): End => {
    if (outcome.is === 'done' || outcome.is === 'dead') return outcome;
    const due = Date.now() + outcome.waitMs;
    if (outcome.is === 'failed') return { is: 'parked', due };
    if (row.line && isBehind(row)) return { is: 'parked', behind: row.line, due: 0 };
    const { sender } = row.record;
    if (sender !== undefined) waiting.set(sender, due);
    return { is: 'parked', behind: sender, due };
  };
  const end = (row: InHand, how: End): void => {
    row.end = how;
    row.endedAt = monotonicNow();
    commit();
  };
  const start = (row: InHand): void => {
    const { sender = '' } = row.record;
    row.isGoing = true;
    const settled = new Promise<void>((resolve) => (row.settle = resolve));
    void send(row, settled).then((outcome) => {
      row.isGoing = false;
      if (outcome?.is === 'done' && waiting.has(sender)) waiting.set(sender, 0);
      if (row.isErased) return end(row, { is: 'done' });
      if (outcome) return end(row, endOf(row, outcome));
      // An identify before it has failed, and is not in hand any more when this row would be sent again.
      if (row.line && isBehind(row)) return end(row, { is: 'parked', behind: row.line, due: 0 });
      row.settle();
      changed();
    });
  };

  /** The new rows that the next commit passes, in their order. */
  const passed = (): InHand[] => {
    const fresh = all().filter((row) => !row.isParked);
    const first = fresh.findIndex((row) => !row.end);
    if (first < 0) return fresh;
    const beyond = fresh.slice(first).filter((row) => row.end);
    const isLate = beyond.some(({ endedAt }) => monotonicNow() - endedAt > SLOW_MS);
    return isLate || beyond.length >= most / 2
      ? fresh.slice(0, fresh.indexOf(beyond.at(-1)!) + 1)
      : fresh.slice(0, first);
  };

  /** When the first row with each key is tried next, after these rows have got their end. */
  const nextTries = (ended: readonly InHand[]): NextTry[] => {
    const next = new Map<string, NextTry>();
    const add = (key: string | undefined, due: number, isNew: boolean): void => {
      const known = key === undefined ? undefined : next.get(key);
      if (key !== undefined && (!known || isNew)) next.set(key, { key, due, isNew });
    };
    for (const row of ended) {
      const { key, line, tries } = row;
      const { sender = '' } = row.record;
      const { is, behind, due = 0 } = row.end as Extract<End, { is: 'parked' }>;
      const hasGone = is !== 'parked';
      add(key, 0, true);
      if (hasGone && waiting.has(sender)) add(sender, 0, true);
      // Rows wait for an identify only if it was parked.
      if (isIdentify(row) && line && row.isParked && (hasGone || tries >= PATIENCE))
        add(line, 0, true);
      if (!hasGone) add(behind, due, behind === line || behind === key);
    }
    return [...next.values()];
  };

  /** Makes the ends of rows durable. Returns false if none could be. */
  const commitNow = async (): Promise<boolean> => {
    const fresh = passed();
    const again = all().filter((row) => row.isParked && row.end);
    if (!fresh.length && !again.length) return false;
    const isAll = all().every((row) => row.isParked || fresh.includes(row));
    const to = isAll ? readTo : fresh.length ? fresh.at(-1)!.place : place;
    const ended = [...fresh, ...again].filter((row) => row.end);
    /** Rows under way. Their ends may come during the commit, which does not know them. */
    const owed = fresh.filter((row) => !row.end);
    const park = [
      ...owed.map((row) => parkedOf(row, { is: 'parked', due: 0 })),
      ...ended.flatMap((row) => (row.end!.is === 'parked' ? [parkedOf(row, row.end!)] : [])),
    ];
    const dead = ended.flatMap(({ place, end }) =>
      end!.is === 'dead' ? [{ place, message: end!.message }] : [],
    );
    const gone = ended.filter((row) => row.isParked && row.end!.is !== 'parked');
    const next = nextTries(ended);
    if (dead.length) dropped(await bury(lock, dead));
    const unpark = gone.map((row) => row.place);
    if (!(await parked.step(lock, { place: to, park, unpark, next }))) {
      isOver = true;
      lost();
      return false;
    }
    place = to;
    if (park.length) parkings++;
    for (const { due } of [...park, ...next]) dueAt = Math.min(dueAt, due ?? Infinity);
    for (const row of owed) row.isParked = true;
    for (const row of ended) {
      rows.delete(row.place);
      left?.add(row.place);
      row.settle();
    }
    committed();
    changed();
    return true;
  };
  const commitAll = async (): Promise<void> => {
    while (!isOver && all().some((row) => row.end)) {
      try {
        if (!(await commitNow()) && !isOver) await sleep(SOON_MS);
      } catch (error) {
        committed(error);
        await sleep(AGAIN_MS);
      }
    }
  };
  /** Begins to make ends durable, unless that goes on already. */
  const commit = (): void => {
    committing ??= commitAll().finally(() => {
      committing = undefined;
      if (!isOver && all().some((row) => row.end)) commit();
    });
  };

  /** Takes rows in hand, except those that are there already. Those behind a parked identify are parked at once. */
  const admit = async (
    found: readonly (Found & { record: Incoming })[],
    upto = readTo,
  ): Promise<void> => {
    const added = found
      .filter((one) => !rows.has(one.place) && !left?.has(one.place))
      .map((one): InHand => ({
        ...{ ...one, line: lineOf(one.record), isGoing: false, isErased: false },
        ...{ endedAt: 0, settle: () => {} },
      }))
      .sort((a, b) => a.place - b.place);
    const inLine = added.filter((row) => row.line);
    let blocked = new Set<number>();
    for (let seen = -1; inLine.length && seen !== parkings;) {
      seen = parkings;
      const going = [...all(), ...added].filter(
        (row) => isIdentify(row) && row.end?.is !== 'parked',
      );
      blocked = await parked.blocked(
        target,
        inLine.map((row) => ({ place: row.place, line: row.line, isIdentify: isIdentify(row) })),
        going.map((row) => row.place),
      );
    }
    readTo = upto;
    for (const row of added) {
      rows.set(row.place, row);
      const { sender } = row.record;
      const due = (!row.isParked && sender !== undefined && waiting.get(sender)) || 0;
      if (row.line && (blocked.has(row.place) || isBehind(row)))
        end(row, { is: 'parked', behind: row.line, due: 0 });
      else if (due > Date.now()) end(row, { is: 'parked', behind: sender, due });
    }
  };

  const readNew = async (): Promise<boolean> => {
    const room = WINDOW - rows.size;
    if (room < LEAST) return false;
    const found = await parked.recordsBehind(readTo, room);
    const fresh = { tries: 0, since: 0, isParked: false, key: undefined };
    const records = found.map((record: StoredRecord) => ({
      ...fresh,
      record,
      place: record.place,
    }));
    if (records.length) await admit(records, records.at(-1)!.place);
    return records.length === room;
  };

  /** Parked rows that are due, and the first ones of each key that is. */
  const findDue = async (room: number): Promise<Found[]> => {
    const own = all().filter((row) => row.isParked);
    const isFresh = own.filter((row) => row.tries > 0).length >= MOST_FAILED;
    const now = Date.now();
    const due = await parked.due(target, now, { limit: room + own.length, isFresh });
    const found: Found[] = [];
    for (const { behind, ...row } of due) {
      if (found.length >= room) return found;
      if (behind === null) {
        if (!rows.has(row.place)) found.push({ ...row, isParked: true, key: undefined });
        continue;
      }
      const known = own.filter(({ key }) => key === behind).length;
      const first = await parked.behind(target, behind, known + Math.min(room, WITH_KEY));
      const more = first.filter((one) => !rows.has(one.place)).slice(0, WITH_KEY - known);
      found.push(...more.map((one) => ({ ...one, isParked: true, key: behind })));
    }
    if (found.length) return found;
    const next = await parked.nextDue(target, now);
    if (next === undefined && !own.length) waiting.clear();
    // Another process may have a refused row sent again.
    dueAt = Math.min(next ?? Infinity, now + (isFresh ? SLOW_MS : LOOK_MS));
    return found;
  };
  const readDue = async (): Promise<boolean> => {
    const room = Math.min(WINDOW / 4, (WINDOW - rows.size) >> 1);
    if (Date.now() < dueAt || room <= 0) return false;
    left = new Set();
    const found = await findDue(room);
    const at = found.map((one) => one.place);
    const records = new Map((await parked.recordsAt(at)).map((one) => [one.place, one]));
    const gone = found.filter((one) => !records.has(one.place));
    if (gone.length) {
      const next = gone.flatMap(({ key }) =>
        key === undefined ? [] : [{ key, due: 0, isNew: true }],
      );
      await parked.step(lock, { park: [], unpark: gone.map((one) => one.place), next });
    }
    await admit(
      found.flatMap((one) => {
        const record = records.get(one.place);
        return record ? [{ ...one, record }] : [];
      }),
    );
    left = undefined;
    return found.length > 0;
  };

  return {
    /** Reads rows, if there is room. Returns whether there may be more. */
    read: async (): Promise<boolean> => {
      const isDue = await readDue();
      return (await readNew()) || isDue;
    },
    /** Sends all rows that are not under way: first those that have failed least, and those of a line in their order. */
    begin: (): void => {
      const idle = all().filter((row) => !row.isGoing && !row.end);
      const triesOf = new Map<string, number>();
      for (const { line, tries } of idle)
        if (line) triesOf.set(line, Math.max(tries, triesOf.get(line) ?? 0));
      const rank = ({ line, tries }: InHand): number => triesOf.get(line) ?? tries;
      idle.sort((a, b) => rank(a) - rank(b) || a.place - b.place).forEach(start);
    },
    /** Milliseconds until parked rows are due. */
    dueMs: (): number => dueAt - Date.now(),
    /** All parked rows are due. */
    tryNow: async (): Promise<void> => {
      await parked.tryNow(target);
      dueAt = 0;
    },
    /** Forgets rows that were erased, so that they are not sent any more. */
    forgetErased: async (): Promise<void> => {
      const given = all();
      const stored = new Set(await parked.stored(given.map((row) => row.place)));
      for (const row of given.filter((one) => !stored.has(one.place))) {
        row.isErased = true;
        if (!row.isGoing && !row.end) end(row, { is: 'done' });
      }
    },
    /** Waits for the rows under way, makes their ends durable, and lets go of all others. */
    close: async (): Promise<void> => {
      while (all().some((row) => row.isGoing)) await sleep(SOON_MS);
      isOver = true;
      await committing;
      if (all().some((row) => row.end)) await commitNow().catch(() => {}); // they are sent again
      for (const row of all()) row.settle();
    },
  };
};

const parkedOf = (
  { place, line, record, tries, since }: InHand,
  { behind, due }: Extract<End, { is: 'parked' }>,
): ParkedRow => ({
  ...{ place, behind, tries, since, due: behind === undefined ? due : undefined },
  ...(record.type === 'identify' && line && { line }),
});
