import { beforeEach, expect, test } from 'vitest';
import { createFaults, type Faults } from '../../lab/simulation/faults.js';
import type { Attempt } from '../../lab/simulation/fate.js';
import { createLedger, type Ledger } from '../../lab/simulation/ledger.js';
import { createVerdicts, type Verdicts } from '../../lab/simulation/verdicts.js';
import type { Witness } from '../../lab/simulation/witness.js';

const MINUTE = 60_000;

let time: number;
let violations: string[];
let faults: Faults;
let verdicts: Verdicts;
let ledger: Ledger;
let witness: Witness;

beforeEach(() => {
  time = 0;
  violations = [];
  faults = createFaults(() => time);
  const violate = (invariant: string) => void violations.push(invariant);
  verdicts = createVerdicts(violate);
  witness = {
    now: () => time,
    resends: false,
    isRunning: () => false,
    wasStoppedBetween: () => false,
    wasCutShortBetween: () => false,
    hasPausedSince: () => false,
    pausesSince: () => [],
    hasWrittenSince: () => true,
  };
  ledger = createLedger(witness, faults, verdicts, violate);
  ledger.made({
    id: 'id',
    name: 'e1',
    type: 'event',
    user: undefined,
    destination: 'a',
    page: 'page 1',
  });
});

type End = NonNullable<Attempt['end']>;

const start = (page: string, isHidden = false): Attempt => {
  const attempt: Attempt = {
    page,
    destination: 'a',
    ids: ['id'],
    keepalive: true,
    startedAt: time,
    isHidden,
    stored: new Set(),
    reports: 0,
    end: undefined,
    endedAt: Infinity,
  };
  ledger.started(attempt);
  return attempt;
};

/** A request with the record that the service stores, and that ends so for its page. */
const store = (page: string, end: End, isHidden = false): void => {
  const attempt = start(page, isHidden);
  ledger.stored(ledger.fates.get('id')!, attempt);
  ledger.ended(attempt, end);
};

/** The page is frozen between these times; it had the database of these destinations then. */
const pause = (page: string, from: number, to: number, ...destinations: string[]): void => {
  witness.pausesSince = (one, since) =>
    one === page && to >= since
      ? [{ from, to, isCached: false, stored: new Set(destinations) }]
      : [];
  witness.wasCutShortBetween = (one, least, most) => one === page && least <= from && from <= most;
};

const used = () => Object.keys(verdicts.tally().used);

const storeTwice = (): void => {
  store('page 1', 'killed');
  time += 5 * MINUTE;
  store('page 2', 'answered');
};

test('a record must not be stored twice when nothing failed', () => {
  storeTwice();
  expect(violations).toEqual(['once']);
});

test.each(['database', 'exit write', 'localStorage', 'exit note', 'clock', 'kill'] as const)(
  'one storage fault is no excuse to store a record twice: %s',
  (kind) => {
    faults.happen(kind);
    storeTwice();
    expect(violations).toEqual(['once']);
  },
);

test('a record may be stored twice when two storage faults meet, and that is counted', () => {
  faults.happen('clock');
  time += 5_000;
  faults.happen('kill', 'page 1');
  storeTwice();
  expect(violations).toEqual([]);
  expect(verdicts.tally()).toMatchObject({
    looked: { once: 1 },
    used: { 'once: storage faults met': 1 },
  });
});

test('a fault that lasts meets what happens before its end', () => {
  faults.begin('database');
  time += 5 * MINUTE;
  faults.happen('clock');
  storeTwice();
  expect(violations).toEqual([]);
});

test('storage faults do not meet a minute apart', () => {
  faults.happen('clock');
  time += MINUTE;
  faults.happen('kill', 'page 1');
  storeTwice();
  expect(violations).toEqual(['once']);
});

test('two storage faults of one kind do not meet', () => {
  faults.happen('kill', 'page 1');
  faults.happen('kill', 'page 2');
  storeTwice();
  expect(violations).toEqual(['once']);
});

test('the fault of a page that never had the record does not count', () => {
  faults.happen('clock');
  faults.happen('kill', 'page 3');
  storeTwice();
  expect(violations).toEqual(['once']);
});

test('faults that met long before the request do not count', () => {
  faults.happen('clock');
  faults.happen('kill', 'page 1');
  time += MINUTE;
  storeTwice();
  expect(violations).toEqual(['once']);
});

test('a record must not be lost without a word, though storage faults meet', () => {
  faults.happen('clock');
  faults.happen('kill', 'page 1');
  ledger.close(() => false);
  expect(violations).toEqual(['lost']);
});

test('a page must not delete what nothing has become of, though storage faults meet', () => {
  faults.happen('clock');
  faults.happen('kill', 'page 1');
  ledger.gone('id', { page: 'page 2', by: 'transaction' });
  expect(violations).toEqual(['kept']);
});

test('a record that the user cleared is excused, and that is counted', () => {
  ledger.gone('id', { page: '', by: 'user' });
  ledger.close(() => false);
  expect(violations).toEqual([]);
  expect(verdicts.tally()).toEqual({
    looked: { lost: 1 },
    used: { 'lost: the user cleared the site data': 1 },
  });
});

test('a hidden page may be stopped before the database knows of its request', () => {
  witness.hasWrittenSince = () => false;
  store('page 1', 'answered', true);
  pause('page 1', time + 500, time + 5 * MINUTE, 'a');
  time += 2 * MINUTE;
  store('page 2', 'answered');
  expect(violations).toEqual([]);
  expect(used()).toEqual(['once: its page was stopped while hidden, before the request was named']);
});

test.each([
  ['it was shown', false, false, 500],
  ['the database knew of it', true, true, 500],
  ['it was stopped too late', true, false, 2_000],
])('that is no excuse where %s', (_, isHidden, hasWritten, stopsAfter) => {
  witness.hasWrittenSince = () => hasWritten;
  store('page 1', 'answered', isHidden);
  pause('page 1', time + stopsAfter, time + 5 * MINUTE, 'a');
  time += 2 * MINUTE;
  store('page 2', 'answered');
  expect(violations).toEqual(['once']);
});

test('a page may believe that it holds what another has sent, when the clock was set as it stood still', () => {
  store('page 2', 'answered');
  pause('page 1', time, time + 5 * MINUTE, 'a');
  time += MINUTE;
  faults.happen('clock');
  time += 4 * MINUTE;
  store('page 1', 'answered');
  expect(violations).toEqual([]);
  expect(used()).toEqual(['once: the clock was set while a page held it']);
});

test('or when it has just been set', () => {
  store('page 2', 'answered');
  time += MINUTE;
  faults.happen('clock');
  time += 5_000;
  store('page 1', 'answered');
  expect(violations).toEqual([]);
});

test.each([
  ['the same page sends it again', 'page 2', MINUTE],
  ['the clock was set after it stood still', 'page 1', 6 * MINUTE],
])('that is no excuse where %s', (_, page, setAfter) => {
  store('page 2', 'answered');
  pause('page 1', time, time + 5 * MINUTE, 'a');
  time += setAfter;
  faults.happen('clock');
  time += 5 * MINUTE;
  store(page, 'answered');
  expect(violations).toEqual(['once']);
});

const pauseAndSendTwice = (ms: number, ...destinations: string[]) => {
  pause('page 1', time, time + ms, ...destinations);
  time += ms;
  store('page 2', 'answered');
  store('page 1', 'answered');
};

test('a page without a database may send what another took from its note while it stood still', () => {
  pauseAndSendTwice(2 * MINUTE, 'b');
  expect(violations).toEqual([]);
  expect(used()).toEqual(['once: a page without a database had paused']);
});

test('a page with a database may not', () => {
  pauseAndSendTwice(2 * MINUTE, 'a', 'b');
  expect(violations).toEqual(['once']);
});

test('nor may a page that stood still for a shorter time than its note keeps others away', () => {
  pauseAndSendTwice(MINUTE / 2, 'b');
  expect(violations).toEqual(['once']);
});

const hangAndSendTwice = (ms: number, later = 0) => {
  faults.begin('database');
  time += ms;
  store('page 1', 'answered');
  faults.end('database');
  time += later;
  store('page 2', 'answered');
};

test('a write that has hung for a minute may bring a record back', () => {
  hangAndSendTwice(2 * MINUTE);
  expect(violations).toEqual([]);
  expect(used()).toEqual(['once: a write that hung was stored after all']);
});

test('one that hung for a shorter time may not: its parcel is still held', () => {
  hangAndSendTwice(MINUTE / 2);
  expect(violations).toEqual(['once']);
});

test('what a page lacks of a fault that is over meets other faults, and is no cause by itself', () => {
  const end = faults.beginEffect('page 1');
  time += 5 * MINUTE;
  expect(faults.wereSince(0, 'database')).toBe(false);
  faults.happen('kill', 'page 1');
  expect(faults.metNear(time, time, new Set(['page 1']))).toBe(true);
  expect(faults.metNear(time, time, new Set(['page 2']))).toBe(false);
  time += MINUTE;
  end();
  time += MINUTE;
  faults.happen('kill', 'page 1');
  expect(faults.metNear(time, time, new Set(['page 1']))).toBe(false);
});

test('storage faults count where they met near any request with the record', () => {
  store('page 2', 'answered');
  time += MINUTE;
  faults.happen('clock');
  faults.happen('kill', 'page 1');
  start('page 1');
  time += 5 * MINUTE;
  store('page 3', 'answered');
  expect(violations).toEqual([]);
  expect(used()).toContain('once: storage faults met');
});

/** Two requests have the record at the same time. */
const sendAtOnce = (first: string, second: string) => {
  witness.isRunning = () => true;
  start(first);
  start(second);
};

test('nobody may send what another sends', () => {
  sendAtOnce('page 1', 'page 2');
  expect(violations).toEqual(['holder']);
});

test('a page that leaves may hand off once more what it could neither store nor note, where repeats are known', () => {
  witness.resends = true;
  witness.wasStoppedBetween = (page) => page === 'page 1';
  sendAtOnce('page 1', 'page 1');
  expect(violations).toEqual([]);
  expect(used()).toEqual(['holder: handed off as its page left, and repeats are known']);
});

test.each([
  ['repeats are not known', false, 'page 1', 'page 1'],
  ['another page sends it', true, 'page 1', 'page 2'],
  ['its page stays', true, 'page 2', 'page 2'],
])('that is no excuse where %s', (_, resends, first, second) => {
  witness.resends = resends;
  witness.wasStoppedBetween = (page) => page === 'page 1';
  sendAtOnce(first, second);
  expect(violations).toEqual(['holder']);
});

test('two may send it as storage faults meet, or as a page without a database goes on', () => {
  faults.happen('localStorage');
  faults.happen('database');
  sendAtOnce('page 1', 'page 2');
  time += 5 * MINUTE;
  pause('page 1', time - 2 * MINUTE, time);
  start('page 3');
  expect(violations).toEqual([]);
  expect(used()).toEqual([
    'holder: storage faults met',
    'holder: a page without a database had paused',
  ]);
});

test('two pages must not drop the same record', () => {
  ledger.dropped('page 1', 'id', 'expired');
  time += MINUTE;
  ledger.dropped('page 2', 'id', 'expired');
  expect(violations).toEqual(['one fate']);
});

test.each([
  ['the clock was set as one did', () => faults.happen('clock')],
  ['the clock was set as one stood still', () => pauseInJump()],
  ['one without a database had stood still', () => pause('page 1', time - 2 * MINUTE, time, 'b')],
  ['a write hung for long', () => hang(time - 2 * MINUTE)],
])('two pages may drop the same record where %s', (_, fail) => {
  time += 5 * MINUTE;
  fail();
  ledger.dropped('page 1', 'id', 'expired');
  ledger.dropped('page 2', 'id', 'expired');
  expect(violations).toEqual([]);
});

const pauseInJump = () => {
  const now = time;
  pause('page 1', now - 2 * MINUTE, now, 'a');
  time = now - MINUTE;
  faults.happen('clock');
  time = now;
};

const hang = (from: number) => {
  const now = time;
  time = from;
  faults.begin('database');
  time = now;
  faults.end('database');
};

test('a record that was never sent counts as unknown only where the clock was set since', () => {
  ledger.outcome('page 1', 'id', 'unknown');
  expect(violations).toEqual(['honest']);
});

test('as when its page let it go before it sent what it had named', () => {
  faults.happen('clock');
  time += MINUTE;
  ledger.outcome('page 2', 'id', 'unknown');
  expect(violations).toEqual([]);
});
