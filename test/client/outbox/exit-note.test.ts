import { describe, expect, it } from 'vitest';
import { destinationName } from '../../../src/client/config/destination.js';
import {
  createNotes,
  NOTES_ROOM,
  type ExitNote,
  type NotedParcel,
} from '../../../src/client/outbox/exit-note.js';
import { createFakeShelf } from '../../support/fake-shelf.js';
import { makeRecord } from '../../support/make-record.js';

const parcel: NotedParcel = {
  key: [0, 'page', 1],
  flight: ['b'],
  done: ['c'],
  records: [makeRecord('a', { at: 0 })],
};
const note = (holder: string): ExitNote => ({ v: 2, holder, until: 0, parcels: [parcel] });

describe('exit notes', () => {
  it('come back as they were left', () => {
    const notes = createNotes(createFakeShelf(), 'site');
    expect(notes.save(note('o'))).toBe(true);
    expect(notes.all()).toEqual([note('o')]);
  });

  it('take the place of the one before', () => {
    const notes = createNotes(createFakeShelf(), 'site');
    notes.save(note('o'));
    notes.save({ ...note('o'), until: 5 });
    expect(notes.all()).toMatchObject([{ until: 5 }]);
  });

  it('are gone when they are removed', () => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    notes.save(note('o'));
    notes.remove('o');
    expect(shelf.keys()).toEqual([]);
  });

  it('of another destination are not read', () => {
    const shelf = createFakeShelf();
    createNotes(shelf, 'site b').save(note('o'));
    shelf.set('something else', 'x');
    expect(createNotes(shelf, 'site').all()).toEqual([]);
  });

  it('of a project whose name goes on like a note of this one are not read', () => {
    const shelf = createFakeShelf();
    const nameOf = (project: string) => destinationName('https://in.test', project);
    createNotes(shelf, nameOf('shop note')).save(note('o'));
    expect(createNotes(shelf, nameOf('shop')).all()).toEqual([]);
  });

  it('say when they could not be kept', () => {
    const shelf = createFakeShelf();
    shelf.blocked = true;
    const notes = createNotes(shelf, 'site');
    expect(notes.save(note('o'))).toBe(false);
    expect(notes.all()).toEqual([]);
  });

  it.each([
    ['another version', { ...note('o'), v: 1 }],
    ['no version', { ...note('o'), v: undefined }],
    ['no parcels', { ...note('o'), parcels: undefined }],
    ['no key', { ...note('o'), parcels: [{ ...parcel, key: undefined }] }],
    ['no list of what was in flight', { ...note('o'), parcels: [{ ...parcel, flight: null }] }],
    ['no list of what was done', { ...note('o'), parcels: [{ ...parcel, done: 5 }] }],
    ['no list of records', { ...note('o'), parcels: [{ ...parcel, records: 'a' }] }],
    ['a record without a body', { ...note('o'), parcels: [{ ...parcel, records: [{}] }] }],
    ['a hole', { ...note('o'), parcels: [null] }],
    ['a hole beside a parcel', { ...note('o'), parcels: [parcel, null] }],
    ['no holder', { ...note('o'), holder: undefined }],
    ['nothing', null],
    ['a text', 'odd'],
  ])('with %s are no notes, and are removed', (_, value) => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    notes.save(note('o'));
    const [key] = shelf.keys();
    shelf.set(key!, JSON.stringify(value));
    expect(notes.all()).toEqual([]);
    expect(shelf.keys()).toEqual([]);
  });

  it('of a later version are left for that one', () => {
    const shelf = createFakeShelf();
    shelf.set('site note o', JSON.stringify({ ...note('o'), v: 3 }));
    expect(createNotes(shelf, 'site').all()).toEqual([]);
    expect(shelf.keys()).toEqual(['site note o']);
  });

  it('have room beside those of other pages and destinations, whatever else the site keeps', () => {
    const shelf = createFakeShelf();
    const values = {
      'analytics-outbox site note own': 'a'.repeat(1_000),
      'analytics-outbox site note they': 'b'.repeat(200),
      'analytics-outbox other note it': 'c'.repeat(30),
      'analytics-outbox site user': 'd'.repeat(10_000),
      'a note of the site': 'e'.repeat(10_000),
    };
    for (const [key, value] of Object.entries(values)) shelf.set(key, value);
    const room = (of = shelf) => createNotes(of, 'analytics-outbox site').room('own');
    const keys = 'analytics-outbox site note they'.length + 'analytics-outbox other note it'.length;
    expect(room()).toBe(NOTES_ROOM - keys - 200 - 30);
    // Another page removes them meanwhile.
    expect(room({ ...shelf, get: () => undefined })).toBe(NOTES_ROOM - keys);
  });

  it('cut off in the middle are no notes', () => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    notes.save(note('o'));
    const [key, text] = [...shelf.values][0]!;
    shelf.values.set(key, text.slice(0, -5));
    expect(notes.all()).toEqual([]);
  });
});
