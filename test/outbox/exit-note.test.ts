import { describe, expect, it } from 'vitest';
import { destinationName } from '../../src/config/destination.js';
import { createNotes, NOTES_ROOM, type ExitNote } from '../../src/outbox/exit-note.js';
import { createFakeShelf } from '../support/fake-shelf.js';
import { makeRecord } from '../support/make-record.js';

const note = (owner: string): ExitNote => ({
  v: 1,
  owner,
  holder: 'page',
  until: 0,
  stored: true,
  flight: [1],
  unsaved: [[2, makeRecord('a', { at: 0 }), 2]],
});

describe('exit notes', () => {
  it('come back as they were left', () => {
    const notes = createNotes(createFakeShelf(), 'site');
    expect(notes.save(note('o'))).toBe(true);
    expect(notes.state(note('o'))).toBe('whole');
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
    notes.remove(note('o'));
    expect(notes.state(note('o'))).toBe('missing');
    expect(shelf.keys()).toEqual([]);
  });

  it('tell whether somebody has taken something over by them', () => {
    const notes = createNotes(createFakeShelf(), 'site');
    notes.save({ ...note('o'), unsaved: [], taken: [2] });
    expect(notes.state(note('o'))).toBe('taken');
  });

  it('say what is done with since, as long as they stand', () => {
    const notes = createNotes(createFakeShelf(), 'site');
    notes.save(note('o'));
    notes.finish(note('o'), 2);
    notes.finish(note('o'), 1);
    expect(notes.all()).toMatchObject([{ done: [2, 1], unsaved: [[2, { id: 'a' }, 2]] }]);
    notes.remove(note('o'));
    notes.finish(note('o'), 2);
    expect(notes.all()).toEqual([]);
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
    expect(notes.state(note('o'))).toBe('missing');
  });

  it.each([
    ['another version', { ...note('o'), v: 2 }],
    ['no version', { ...note('o'), v: undefined }],
    ['no list of what was in flight', { ...note('o'), flight: undefined }],
    ['no list of what was not stored', { ...note('o'), unsaved: undefined }],
    ['a record without a body', { ...note('o'), unsaved: [...note('o').unsaved, [3, {}, 3]] }],
    ['an end that is no time', { ...note('o'), until: 'soon' }],
    ['what was done in no list', { ...note('o'), done: '[1]' }],
    ['no page', { ...note('o'), holder: undefined }],
    ['a hole', { ...note('o'), unsaved: [null] }],
    ['nothing', null],
    ['a text', 'odd'],
  ])('with %s are no notes', (_, value) => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    notes.save(note('o'));
    const [key] = shelf.keys();
    shelf.set(key!, JSON.stringify(value));
    expect(notes.all()).toEqual([]);
    expect(notes.state(note('o'))).toBe('missing');
  });

  it('cut off in the middle are no notes', () => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    notes.save(note('o'));
    const [key, text] = [...shelf.values][0]!;
    shelf.values.set(key, text.slice(0, -5));
    expect(notes.all()).toEqual([]);
  });

  it('that nobody can read are removed, but for those of a later version', () => {
    const shelf = createFakeShelf();
    const notes = createNotes(shelf, 'site');
    shelf.set('site note a a', '{"v":1,"owner"');
    shelf.set('site note b b', '{"v":1}');
    shelf.set('site note c c', '{"v":2}');
    expect(notes.all()).toEqual([]);
    expect(shelf.keys()).toEqual(['site note c c']);
  });

  it('share the room of a site', () => {
    const shelf = createFakeShelf();
    const nameOf = (project: string) => destinationName('https://in.test', project);
    const notes = createNotes(shelf, nameOf('shop'));
    expect(notes.room(note('o'))).toBe(NOTES_ROOM);
    notes.save(note('o'));
    expect(notes.room(note('o'))).toBe(NOTES_ROOM);
    const [[key, text]] = [...shelf.values] as [[string, string]];
    expect(createNotes(shelf, nameOf('other')).room(note('o'))).toBe(
      NOTES_ROOM - key.length - text.length,
    );
  });
});
