import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readNotes, removeNote, writeNote } from '../../../src/client/outbox/note.js';
import { addParcels } from '../../../src/client/outbox/memory.js';
import { createOutbox, type Outbox } from '../../../src/client/outbox/outbox.js';
import type { ParcelKey } from '../../../src/client/outbox/parcel.js';
import type { OutboxRecord } from '../../../src/client/types.js';
import { createLocalStorage } from '../../support/local-storage.js';
import { name, text } from '../../support/nasty.js';
import { NAME } from '../../support/site.js';

const NOW = 1_000_000;

const id = fc.stringMatching(/^[\w-]{21}$/);
const record = fc
  .record({
    id,
    type: fc.constantFrom('identify' as const, 'event' as const),
    body: name,
    at: fc.nat(),
    attempts: fc.nat(20),
    user: fc.option(text, { nil: undefined }),
  })
  // A record has no user rather than an undefined one.
  .map((made) => JSON.parse(JSON.stringify(made)) as OutboxRecord);
const parcel = fc.record({
  key: fc.tuple(fc.nat(), id, fc.nat()) as fc.Arbitrary<ParcelKey>,
  stored: fc.constantFrom('no' as const, 'perhaps' as const, 'yes' as const),
  records: fc.array(record, { minLength: 1, maxLength: 5 }),
  isNamed: fc.boolean(),
});

/** What a page holds that has these parcels. */
const holding = (
  parcels: (typeof parcel extends fc.Arbitrary<infer Parts> ? Parts : never)[],
  name = NAME,
): Outbox => {
  const outbox = createOutbox({ name, settings: () => ({}) } as Outbox);
  for (const { key, stored, records, isNamed } of parcels) {
    const value = { v: 3, life: 'dead', flight: [], records, isNoted: false, key, stored };
    const [made] = addParcels(outbox, [value]);
    for (const entry of made!.entries) entry.isNamed = isNamed;
  }
  return outbox;
};

let values: Map<string, string>;
beforeEach(() => {
  values = new Map();
  vi.stubGlobal('localStorage', createLocalStorage(values));
  vi.stubGlobal('document', { readyState: 'complete' });
  vi.spyOn(Date, 'now').mockReturnValue(NOW);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('exit notes', () => {
  it('are read as they were written, and are gone when removed', () => {
    const pages = fc.array(fc.array(parcel, { minLength: 1, maxLength: 3 }), { maxLength: 5 });
    fc.assert(
      fc.property(pages, (written) => {
        values.clear();
        const all = written.map((made) => holding(made));
        for (const outbox of all) expect(writeNote(outbox, [...outbox.parcels])).toBeDefined();

        const notes = readNotes(NAME);
        expect(notes.map(({ life }) => life)).toEqual(all.map(({ life }) => life));
        notes.forEach(({ life, until, list }, i) => {
          expect(until).toBeGreaterThan(NOW);
          const { parcels: held } = all[i]!;
          const wanted = [...held].map(({ key, stored, entries }) => {
            const records = [...entries].map((entry) => entry.record);
            const named = [...entries].filter(({ isNamed }) => isNamed);
            const flight = named.map((one) => one.record.id);
            return { v: 3, life, key, stored, records, flight, isNoted: false };
          });
          expect(list).toEqual(expect.arrayContaining(wanted));
          expect(list).toHaveLength(wanted.length);
          removeNote(NAME, life);
        });
        expect(values).toEqual(new Map());
      }),
    );
  });

  it('that were cut off, or written by others, have no parcels', () => {
    const cutOff = fc.tuple(fc.array(parcel, { minLength: 1 }), fc.nat(500)).map(([made, end]) => {
      const outbox = holding(made, 'other');
      writeNote(outbox, [...outbox.parcels]);
      return values.get(`other note ${outbox.life}`)!.slice(0, -1 - end);
    });
    const otherVersion = fc
      .array(fc.dictionary(fc.constantFrom('key', 'flight', 'records', 'done'), fc.jsonValue()))
      .map((parcels) => JSON.stringify({ list: parcels.map((made) => ({ ...made, v: 2 })) }));
    const value = fc.oneof(fc.string(), fc.json(), otherVersion, cutOff);
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), (found) => {
        values.clear();
        found.forEach((one, i) => values.set(`${NAME} note ${i}`, one));
        expect(readNotes(NAME).flatMap(({ list }) => list)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('are written beside one that cannot be read', () => {
    values.set(`${NAME} note other`, '{}');
    vi.spyOn(localStorage, 'getItem').mockImplementation(() => {
      throw new Error('broken');
    });
    expect(writeNote(holding([]), [], NOW)).toEqual(new Set());
  });
});
