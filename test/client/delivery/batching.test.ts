import { describe, expect, it } from 'vitest';
import { createBatching } from '../../../src/client/delivery/batching.js';
import { createEntry, createParcel, type Entry } from '../../../src/client/outbox/parcel.js';
import { makeRecord } from '../../support/make-record.js';

const CAPACITY = { records: 8, bytes: 1_000, bytesPerRecord: 10 };

let made = 0;

const entries = (count: number, size = 1, attempts = 0): Entry[] =>
  Array.from({ length: count }, (_, i) => {
    const record = { ...makeRecord(`${made++} ${i}`), attempts };
    return { ...createEntry(record, createParcel([0, 'maker', 1])), size };
  });

const create = () => createBatching(CAPACITY);

/** How many of these go into one request. */
const taken = ({ fits }: ReturnType<typeof createBatching>, all: readonly Entry[]): number => {
  const group: Entry[] = [all[0]!];
  while (group.length < all.length && fits(group, all[group.length]!))
    group.push(all[group.length]!);
  return group.length;
};

describe('a request', () => {
  it('takes as many records as it may', () => {
    expect(taken(create(), entries(20))).toBe(8);
  });

  it('is filled to its last byte', () => {
    // Four times 10 are taken already.
    const room = CAPACITY.bytes - 40;
    expect(taken(create(), entries(4, room / 4))).toBe(4);
    expect(taken(create(), [...entries(3, room / 4), ...entries(1, room / 4 + 1)])).toBe(3);
  });

  it('weighs what its records weigh', () => {
    expect(create().weigh(entries(2, 100))).toBe(220);
  });
});

describe('records that were tried before', () => {
  it('go half as many at a time with each attempt, and alone in the end', () => {
    const sizes = [0, 1, 2, 3, 4, 40].map((attempts) => taken(create(), entries(20, 1, attempts)));
    expect(sizes).toEqual([8, 4, 2, 1, 1, 1]);
  });

  it('go with none that was tried more often, or less', () => {
    const [fresh, tried] = [entries(2), entries(2, 1, 1)];
    expect(taken(create(), [...fresh, ...tried])).toBe(2);
    expect(taken(create(), [...tried, ...fresh])).toBe(2);
  });
});

it('half of what was too large fits from then on', () => {
  const batching = create();
  batching.shrink(entries(4, 90));
  expect(taken(batching, entries(8, 90))).toBe(2);
});
