import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNotes, type ExitNote } from '../../src/outbox/exit-note.js';
import type { OutboxRecord } from '../../src/types.js';
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
const note: fc.Arbitrary<ExitNote> = fc.record({
  v: fc.constant(1 as const),
  owner: id,
  holder: id,
  until: fc.nat(),
  flight: fc.array(fc.nat()),
  stored: fc.boolean(),
  unsaved: fc.array(fc.tuple(fc.nat(), record, fc.nat()), { maxLength: 5 }),
});

describe('exit notes', () => {
  it('are read as they were written, and are gone when removed', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(note, { maxLength: 5, selector: ({ owner }) => owner }),
        (written) => {
          const shelf = createFakeShelf();
          const notes = createNotes(shelf, 'site');
          for (const one of written) expect(notes.save(one)).toBe(true);
          const found = createNotes(shelf, 'site').all();
          expect(found).toEqual(written);
          for (const one of found) {
            expect(notes.state(one)).toBe('whole');
            notes.remove(one);
            expect(notes.state(one)).toBe('missing');
          }
          expect(shelf.keys()).toEqual([]);
        },
      ),
    );
  });

  it('that were cut off, or written by others, are none', () => {
    const prefix = 'site note ';
    const value = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record(
          { v: fc.constant(1), flight: fc.jsonValue(), unsaved: fc.jsonValue() },
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
          expect(found.v).toBe(1);
          expect(Array.isArray(found.flight) && Array.isArray(found.unsaved)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
