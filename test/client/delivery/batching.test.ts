import { describe, expect, it } from 'vitest';
import { createBatching } from '../../../src/client/delivery/batching.js';
import { createTroubles } from '../../../src/client/delivery/troubles.js';
import { createEntry, createParcel, type Entry } from '../../../src/client/outbox/parcel.js';
import { makeRecord } from '../../support/make-record.js';

const CAPACITY = { records: 8, bytes: 1_000, bytesPerRecord: 10 };

let made = 0;

const entries = (count: number, size = 1): Entry[] =>
  Array.from({ length: count }, (_, i) => {
    const record = makeRecord(`${made++} ${i}`);
    return { ...createEntry(record, createParcel([0, 'maker', 1])), size };
  });

const create = () => createBatching(CAPACITY, createTroubles());

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

describe('after trouble', () => {
  it('a request has one record, and more again with each that passes', () => {
    const batching = create();
    const all = entries(20);
    batching.failed();
    expect(taken(batching, all)).toBe(1);
    batching.passed();
    expect(taken(batching, all)).toBe(2);
    batching.passed();
    batching.passed();
    batching.passed();
    expect(taken(batching, all)).toBe(8);
  });

  it('records that spoilt a request together go alone, and the others as before', () => {
    const batching = create();
    const [spoilt, others] = [entries(6), entries(6)];
    batching.split(spoilt);
    expect(taken(batching, spoilt)).toBe(1);
    expect(taken(batching, [...others.slice(0, 2), ...spoilt])).toBe(2);
    expect(taken(batching, [...spoilt.slice(0, 1), ...others])).toBe(1);
    expect(taken(batching, others)).toBe(6);
  });

  it('a record that was alone already is no more alone than the others', () => {
    const batching = create();
    const [one, ...others] = entries(4);
    batching.split([one!]);
    expect(taken(batching, [one!, ...others])).toBe(4);
  });
});
