import { describe, expect, it } from 'vitest';
import { destinationName } from '../../../src/client/config/destination.js';
import {
  createNotes,
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
    expect(notes.get('o')).toEqual(note('o'));
    expect(notes.all()).toMatchObject([note('o')]);
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
    expect(notes.get('o')).toBeUndefined();
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
    expect(notes.get('o')).toBeUndefined();
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
    ['nothing', null],
    ['a text', 'odd'],
  ])('with %s are no notes', (_, value) => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    notes.save(note('o'));
    const [key] = shelf.keys();
    shelf.set(key!, JSON.stringify(value));
    expect(notes.all()).toEqual([]);
    expect(notes.get('o')).toBeUndefined();
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
