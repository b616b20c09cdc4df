import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNotes, type ExitNote } from '../../src/client/outbox/exit-note.js';
import type { ParcelKey } from '../../src/client/outbox/parcel.js';
import type { OutboxRecord } from '../../src/client/types.js';
import { createFakeShelf } from '../support/fake-shelf.js';
import { name, text } from './nasty.js';

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
  // As it is kept: without a user where there is none.
  .map((made) => JSON.parse(JSON.stringify(made)) as OutboxRecord);
const noted = fc.record({
  key: fc.tuple(fc.integer(), id, fc.nat()),
  flight: fc.array(id),
  done: fc.array(id),
  records: fc.array(record, { maxLength: 5 }),
  isNew: fc.boolean(),
});
const note: fc.Arbitrary<ExitNote> = fc.record({
  v: fc.constant(2 as const),
  holder: id,
  until: fc.nat(),
  parcels: fc.array(noted, { minLength: 1, maxLength: 3 }),
});

describe('exit notes', () => {
  it('are read as they were written, and are gone when removed', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(note, { maxLength: 5, selector: ({ holder }) => holder }),
        (written) => {
          const shelf = createFakeShelf();
          const notes = createNotes(shelf, 'site');
          for (const one of written) expect(notes.save(one)).toBe(true);
          const found = createNotes(shelf, 'site').all();
          expect(found).toEqual(written);
          for (const one of found) {
            notes.remove(one.holder);
            expect(notes.all()).not.toContainEqual(one);
          }
          expect(shelf.keys()).toEqual([]);
        },
      ),
    );
  });

  it('that say nothing are removed', () => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    const parcel = { key: [1, 'page', 1] as ParcelKey, flight: [], done: [], records: [] };
    notes.save({ holder: 'page', until: 0, parcels: [parcel] });
    expect(notes.save({ holder: 'page', until: 0, parcels: [] })).toBe(true);
    expect(shelf.keys()).toEqual([]);
  });

  it('that were cut off, or written by others, are none', () => {
    const prefix = 'site note ';
    const value = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record(
          { v: fc.constant(2), parcels: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())) },
          { requiredKeys: ['v'] },
        )
        .map((made) => JSON.stringify(made)),
      fc.tuple(note, fc.nat(500)).map(([made, end]) => JSON.stringify(made).slice(0, end)),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), (values) => {
        const shelf = createFakeShelf();
        values.forEach((one, i) => shelf.set(`${prefix}${i}`, one));
        for (const found of createNotes(shelf, 'site').all()) {
          expect(found.v).toBe(2);
          for (const { flight, done, records } of found.parcels) {
            expect([flight, done, records].every(Array.isArray)).toBe(true);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
