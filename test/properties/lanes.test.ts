import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBatching } from '../../src/client/delivery/batching.js';
import { nextInLine } from '../../src/client/delivery/lanes.js';
import { createEntry, createParcel, type Entry } from '../../src/client/outbox/parcel.js';
import { makeRecord } from '../support/make-record.js';

const NOW = 1_000;

const one = fc.record({
  type: fc.constantFrom('identify' as const, 'event' as const),
  user: fc.constantFrom('a', 'b', 'c', undefined),
  state: fc.constantFrom(
    'waiting' as const,
    'waiting' as const,
    'waiting' as const,
    'flight' as const,
  ),
  isLate: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  isAdopted: fc.boolean(),
  bytes: fc.integer({ min: 1, max: 400 }),
});
const rules = fc.record({
  limit: fc.integer({ min: 1, max: 6 }),
  size: fc.constantFrom(1, 2, 5, 50),
  bytes: fc.constantFrom(500, 5_000),
  horizon: fc.integer({ min: 0, max: 30 }),
  mustWait: fc.boolean(),
});

interface Line {
  entries: Entry[];
  sent: Entry[][];
}

const line = fc
  .tuple(fc.array(one, { maxLength: 25 }), rules)
  .map(([ones, { limit, size, bytes, horizon, mustWait }]) => {
    const parcel = createParcel([0, 'maker', 1]);
    const late = new Set<Entry>();
    const dueAt = (entry: Entry) => (late.has(entry) ? NOW + 1 : 0);
    const sorted = [...ones.filter((x) => x.isAdopted), ...ones.filter((x) => !x.isAdopted)];
    const entries = sorted.map<Entry>(
      ({ type, user, state, isLate, isAdopted, bytes: length }, i) => {
        const parts = { type, bytes: length, ...(user !== undefined && { user }) };
        // An identify has a user always.
        const record = makeRecord(`r${i}`, type === 'identify' ? { user: 'a', ...parts } : parts);
        const entry = createEntry(record, parcel);
        if (isLate) late.add(entry);
        return Object.assign(entry, {
          order: isAdopted ? 0 : i + 1,
          state,
        });
      },
    );
    const capacity = { records: size, bytes, bytesPerRecord: 0 };
    const { fits } = createBatching(capacity);
    const isDue = (entry: Entry) => entry.order <= horizon && dueAt(entry) <= NOW;
    const sent = nextInLine(entries, {
      ...{ limit, isDue, fits },
      mustWait: ({ order }) => mustWait && order > 0,
    });
    return { entries, sent, limit, size, bytes, horizon, mustWait, dueAt };
  });

const isFreeOf = ({ state, order, record }: Entry, dueAt: number, horizon: number) =>
  state === 'waiting' && dueAt <= NOW && order <= horizon && record.user === undefined;
const isIdentify = ({ record }: Entry) => record.type === 'identify';
const before = ({ entries }: Line, entry: Entry) => entries.slice(0, entries.indexOf(entry));
const requestOf = ({ sent }: Line, entry: Entry) => sent.find((group) => group.includes(entry));

const holds = (property: (found: typeof line extends fc.Arbitrary<infer T> ? T : never) => void) =>
  fc.assert(fc.property(line, property), { numRuns: 500 });

describe('what is next in line', () => {
  it('keeps the limits of requests, and of records and bytes in each', () => {
    holds(({ sent, limit, size, bytes }) => {
      expect(sent.length).toBeLessThanOrEqual(limit);
      for (const group of sent) {
        expect(group.length).toBeGreaterThan(0);
        expect(group.length).toBeLessThanOrEqual(size);
        const total = group.reduce((sum, entry) => sum + entry.size, 0);
        if (group.length > 1) expect(total).toBeLessThanOrEqual(bytes);
      }
    });
  });

  it('is due, waits, and is sent once', () => {
    holds(({ sent, horizon, mustWait, dueAt }) => {
      const all = sent.flat();
      expect(new Set(all).size).toBe(all.length);
      for (const one of all) {
        const { state, order, record } = one;
        expect(state).toBe('waiting');
        expect(dueAt(one)).toBeLessThanOrEqual(NOW);
        expect(order).toBeLessThanOrEqual(horizon);
        if (mustWait && order > 0) expect(record.user).toBeUndefined();
      }
    });
  });

  it('has the identifies of one user in one request at a time, in their order', () => {
    holds((found) => {
      for (const entry of found.sent.flat().filter(isIdentify)) {
        const group = requestOf(found, entry)!;
        const older = before(found, entry).filter(
          (other) => isIdentify(other) && other.record.user === entry.record.user,
        );
        for (const other of older) {
          // Whatever the reason why an older one does not go, this one does not either.
          expect(requestOf(found, other)).toBe(group);
          expect(group.indexOf(other)).toBeLessThan(group.indexOf(entry));
        }
      }
    });
  });

  it("has a user's events after the identifies before them", () => {
    holds((found) => {
      for (const entry of found.sent.flat()) {
        if (isIdentify(entry) || entry.record.user === undefined) continue;
        const group = requestOf(found, entry)!;
        const older = before(found, entry).filter(
          (other) => isIdentify(other) && other.record.user === entry.record.user,
        );
        for (const other of older) {
          expect(requestOf(found, other)).toBe(group);
          expect(group.indexOf(other)).toBeLessThan(group.indexOf(entry));
        }
      }
    });
  });

  it('is the oldest first', () => {
    holds(({ sent, entries }) => {
      const places = sent.map((group) => entries.indexOf(group[0]!));
      expect(places).toEqual([...places].sort((a, b) => a - b));
      for (const group of sent) {
        const inside = group.map((entry) => entries.indexOf(entry));
        expect(inside).toEqual([...inside].sort((a, b) => a - b));
      }
    });
  });

  it('is something, where one waits that nothing holds', () => {
    holds(({ entries, sent, horizon, dueAt }) => {
      const isFree = (one: Entry) => isFreeOf(one, dueAt(one), horizon);
      if (entries.some(isFree)) expect(sent.flat()).not.toEqual([]);
    });
  });
});
