import { beforeEach, expect, test } from 'vitest';
import { createFaults, type Faults } from '../../lab/simulation/faults.js';
import type { Attempt } from '../../lab/simulation/fate.js';
import { createLedger, type Ledger } from '../../lab/simulation/ledger.js';
import { createVerdicts, type Verdicts } from '../../lab/simulation/verdicts.js';

const MINUTE = 60_000;

let time: number;
let violations: string[];
let faults: Faults;
let verdicts: Verdicts;
let ledger: Ledger;

beforeEach(() => {
  time = 0;
  violations = [];
  faults = createFaults(() => time);
  const violate = (invariant: string) => void violations.push(invariant);
  verdicts = createVerdicts(violate);
  const witness = {
    now: () => time,
    resends: false,
    isRunning: () => false,
    wasStoppedBetween: () => false,
    wasCutShortBetween: () => false,
    hasPausedSince: () => false,
    hadCompanySince: () => false,
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

/** A request with the record that the service stores, and that ends so for its page. */
const store = (page: string, end: NonNullable<Attempt['end']>): void => {
  const attempt: Attempt = {
    page,
    destination: 'a',
    ids: ['id'],
    keepalive: true,
    startedAt: time,
    isHidden: false,
    stored: new Set(),
    reports: 0,
    end: undefined,
    endedAt: Infinity,
  };
  ledger.started(attempt);
  ledger.stored(ledger.fates.get('id')!, attempt);
  ledger.ended(attempt, end);
};

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
