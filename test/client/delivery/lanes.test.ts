import { describe, expect, it } from 'vitest';
import { nextInLine } from '../../../src/client/delivery/lanes.js';
import { createEntry, createParcel, type Entry } from '../../../src/client/outbox/parcel.js';
import { makeRecord } from '../../support/make-record.js';

const parcel = createParcel([0, 'maker', 1]);

/** When each may be tried. */
const due = new Map<Entry, number>();

interface Parts {
  user?: string;
  state?: Entry['state'];
  dueAt?: number;
  order?: number;
}

const entry = (id: string, type: 'event' | 'identify', parts: Parts): Entry => {
  const { user, dueAt = 0, ...rest } = parts;
  const record = makeRecord(id, user === undefined ? { type } : { type, user });
  const made = Object.assign(createEntry(record, parcel, 1), rest);
  due.set(made, dueAt);
  return made;
};
const event = (id: string, parts: Parts = {}) => entry(id, 'event', parts);
const identify = (id: string, user: string, parts: Parts = {}) =>
  entry(id, 'identify', { user, ...parts });

type Rules = Parameters<typeof nextInLine>[1];

const NOW = 1_000;

const next = (
  entries: Entry[],
  { horizon = Infinity, ...rules }: Partial<Rules & { horizon: number }> = {},
) =>
  nextInLine(entries, {
    limit: 100,
    mustWait: () => false,
    isDue: (one) => one.order <= horizon && (due.get(one) ?? 0) <= NOW,
    fits: () => false,
    ...rules,
  })
    .flat()
    .map(({ record }) => record.id);

describe('next in line', () => {
  it('are the oldest, up to the limit', () => {
    expect(next([event('a'), event('b'), event('c')], { limit: 2 })).toEqual(['a', 'b']);
  });

  it('are those that wait', () => {
    expect(next([event('a', { state: 'flight' }), event('b')])).toEqual(['b']);
  });

  it('are those whose time has come', () => {
    const entries = [event('a', { dueAt: 1_001 }), event('b', { dueAt: 1_000 })];
    expect(next(entries)).toEqual(['b']);
  });

  it('are those that were called before the flush began', () => {
    const entries = [event('a', { order: 1 }), event('b', { order: 2 }), event('c', { order: 3 })];
    expect(next(entries, { horizon: 2 })).toEqual(['a', 'b']);
  });

  it('is one identify of each user', () => {
    const entries = [identify('u1', 'u'), identify('u2', 'u'), identify('v1', 'v')];
    expect(next(entries)).toEqual(['u1', 'v1']);
  });

  it('is no identify while another of its user is in flight', () => {
    const entries = [identify('u1', 'u', { state: 'flight' }), identify('u2', 'u')];
    expect(next(entries)).toEqual([]);
  });

  it("is no event before its user's identify", () => {
    const entries = [identify('u1', 'u'), event('e', { user: 'u' }), event('f', { user: 'v' })];
    expect(next(entries)).toEqual(['u1', 'f']);
    entries[0]!.state = 'flight';
    expect(next(entries)).toEqual(['f']);
  });

  it("is an event that came before its user's identify", () => {
    const entries = [event('e', { user: 'u' }), identify('u1', 'u'), event('f', { user: 'u' })];
    expect(next(entries)).toEqual(['e', 'u1']);
  });

  it('is nothing behind an identify that waits for a time of its own', () => {
    const entries = [
      identify('u1', 'u', { dueAt: 2_000 }),
      identify('u2', 'u'),
      event('e', { user: 'u' }),
      event('free'),
    ];
    expect(next(entries)).toEqual(['free']);
    expect(next(entries, { leaving: () => true })).toEqual(['free']);
  });

  it('is an event of a user beside another of the same', () => {
    expect(next([event('e', { user: 'u' }), event('f', { user: 'u' })])).toEqual(['e', 'f']);
  });

  it('is what follows an event that is in flight, also when the page goes', () => {
    const inFlight = () => event('e', { user: 'u', state: 'flight' });
    expect(next([inFlight(), event('f', { user: 'u' })])).toEqual(['f']);
    const identified = [inFlight(), identify('i', 'u')];
    expect(next(identified)).toEqual(['i']);
    expect(next(identified, { leaving: () => true })).toEqual(['i']);
  });

  it("is no user's record while older ones than it are unread", () => {
    const entries = [
      event('old', { user: 'u', order: 0 }),
      event('new', { user: 'u' }),
      identify('i', 'v'),
      event('anonymous'),
    ];
    const mustWait = ({ order }: Entry) => order > 0;
    expect(next(entries, { mustWait })).toEqual(['old', 'anonymous']);
  });

  it('takes a user named like a property of objects', () => {
    const entries = [identify('i', '__proto__'), event('e', { user: '__proto__' })];
    expect(next(entries)).toEqual(['i']);
  });

  it('are, when the page goes, the first identify of a user and the events after it', () => {
    const entries = [
      identify('u1', 'u'),
      event('e', { user: 'u' }),
      identify('u2', 'u'),
      event('f', { user: 'u' }),
    ];
    expect(next(entries, { leaving: () => true })).toEqual(['u1', 'e']);
  });

  it('are, when the page goes, the events behind an identify in flight', () => {
    const entries = [
      identify('u1', 'u', { state: 'flight' }),
      event('e', { user: 'u' }),
      identify('u2', 'u'),
    ];
    expect(next(entries, { leaving: () => true })).toEqual(['e']);
  });

  it('are, when the page goes, only those that may still be given to the browser', () => {
    const entries = [
      identify('big', 'u'),
      event('behind', { user: 'u' }),
      identify('v1', 'v'),
      event('free'),
    ];
    const leaving = ({ record }: Entry) => record.id !== 'big';
    expect(next(entries, { leaving })).toEqual(['v1', 'free']);
  });
});
