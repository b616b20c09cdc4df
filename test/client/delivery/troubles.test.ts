import { beforeEach, expect, it } from 'vitest';
import { createTroubles } from '../../../src/client/delivery/troubles.js';
import { createEntry, createParcel, type Entry } from '../../../src/client/outbox/parcel.js';
import { makeRecord } from '../../support/make-record.js';

let now: number;
beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
});

const entryOf = (id: string): Entry => createEntry(makeRecord(id), createParcel([0, 'maker', 1]));
const create = (draws: number[] = []) =>
  createTroubles(
    () => now,
    () => draws.shift() ?? 1,
  );

it('lets a record wait for half as long as it has failed, and for a second at least', () => {
  const troubles = create();
  const a = entryOf('a');
  expect(troubles.isDue(a)).toBe(true);
  const waits = Array.from({ length: 6 }, () => {
    troubles.fail([a]);
    expect(troubles.isDue(a)).toBe(false);
    const wait = troubles.nextDue(now) - now;
    now += wait;
    expect(troubles.isDue(a)).toBe(true);
    return wait;
  });
  expect(waits).toEqual([1_000, 1_000, 1_000, 1_500, 2_250, 3_375]);
});

it('keeps with a record since when it fails, so that another page goes on from there', () => {
  const a = entryOf('a');
  create().fail([a]);
  const began = now;
  now += 86_400_000;
  const troubles = create();
  expect(troubles.isDue(a)).toBe(true);
  troubles.fail([a]);
  expect(a.record.failedSince).toBe(began);
  expect(troubles.nextDue(now) - now).toBe(300_000);
});

it('lets records that failed together be due together', () => {
  const troubles = create([0.2, 0.9]);
  const [a, b] = [entryOf('a'), entryOf('b')];
  troubles.fail([a, b]);
  now = troubles.nextDue(now);
  expect([a, b].map(troubles.isDue)).toEqual([true, true]);
});

it('names the next time at which one is due, and none that is past', () => {
  const troubles = create([0, 1]);
  const began = now;
  troubles.fail([entryOf('a')]);
  troubles.fail([entryOf('b')]);
  const next = [0, 499, 500, 999, 1_000].map((ms) => troubles.nextDue(began + ms) - began);
  expect(next).toEqual([500, 500, 1_000, 1_000, Infinity]);
});

it('forgets the wait of a record that has come to its end, and of all when something has changed', () => {
  const troubles = create();
  const [a, b] = [entryOf('a'), entryOf('b')];
  troubles.fail([a, b]);
  troubles.forget(a);
  expect([a, b].map(troubles.isDue)).toEqual([true, false]);
  troubles.clear();
  expect(troubles.isDue(b)).toBe(true);
});

it('lets no record wait for a clock that was set back', () => {
  const troubles = create();
  const a = entryOf('a');
  troubles.fail([a]);
  now -= 86_400_000;
  expect(troubles.isDue(a)).toBe(true);
  expect(troubles.nextDue(now)).toBe(Infinity);
  troubles.fail([a]);
  expect(troubles.nextDue(now) - now).toBe(1_000);
});
