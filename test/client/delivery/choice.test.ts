import { describe, expect, it } from 'vitest';
import { choose } from '../../../src/client/delivery/choice.js';
import { createEntry, createParcel, type Entry } from '../../../src/client/outbox/parcel.js';
import type { OutboxRecord } from '../../../src/client/types.js';

const parcel = createParcel([0, 'maker', 1], 'no');
let made = 0;
const entry = (more: Partial<OutboxRecord> = {}, isSent = false): Entry => ({
  ...createEntry(
    { id: `r${++made}`, type: 'event', body: '{}', at: made, attempts: 0, ...more },
    parcel,
    made,
  ),
  isSent,
});
const identify = (user: string, more: Partial<OutboxRecord> = {}) =>
  entry({ type: 'identify', user, ...more });

interface Given {
  places?: number;
  isLeaving?: boolean;
  /** Records that a request takes. */
  batch?: number;
  mayGo?: (entry: Entry) => boolean;
}
const chosen = (
  entries: Entry[],
  { places = 6, isLeaving = false, batch = 1, mayGo = () => true }: Given = {},
): number[][] => {
  const joins = (group: readonly Entry[]) => group.length < batch;
  return choose(entries, places, isLeaving, mayGo, joins).map((group) =>
    group.map((one) => entries.indexOf(one)),
  );
};

describe('choose', () => {
  it('takes the oldest, one for each place', () => {
    expect(chosen([entry(), entry(), entry()], { places: 2 })).toEqual([[0], [1]]);
  });

  it('fills a batch before it begins the next', () => {
    const entries = [entry(), entry(), entry()];
    expect(chosen(entries, { places: 2, batch: 2 })).toEqual([[0, 1], [2]]);
    expect(chosen(entries, { places: 1, batch: 2 })).toEqual([[0, 1]]);
  });

  it('leaves out what is under way, and what may not go', () => {
    const late = entry();
    const entries = [entry({}, true), late, entry()];
    expect(chosen(entries, { mayGo: (one) => one !== late })).toEqual([[2]]);
  });

  it('takes those with the fewest attempts, wherever they stand', () => {
    expect(chosen([entry({ attempts: 3 }), entry(), entry({ attempts: 1 }), entry()])).toEqual([
      [1],
      [3],
    ]);
    expect(chosen([entry({ attempts: 3 }), entry({ attempts: 1 })])).toEqual([[1]]);
  });

  it('never puts a record that has failed into a batch of fresh ones', () => {
    expect(chosen([entry({ attempts: 1 }), entry(), entry()], { batch: 50 })).toEqual([[1, 2]]);
  });

  it('sends identifies of a user one at a time, and those of others beside them', () => {
    expect(chosen([identify('a'), identify('a'), identify('b')])).toEqual([[0], [2]]);
  });

  it('lets the events of a user wait for the identify before them', () => {
    expect(chosen([identify('a'), entry({ user: 'a' }), entry({ user: 'b' }), entry()])).toEqual([
      [0],
      [2],
      [3],
    ]);
    expect(chosen([identify('a'), entry({ user: 'a' })], { batch: 50 })).toEqual([[0, 1]]);
  });

  it('lets them wait for one that is under way or put off, too', () => {
    const underWay = identify('a');
    underWay.isSent = true;
    expect(chosen([underWay, entry({ user: 'a' }), entry()])).toEqual([[2]]);
    const putOff = identify('a');
    expect(
      chosen([putOff, entry({ user: 'a' }), entry()], { mayGo: (one) => one !== putOff }),
    ).toEqual([[2]]);
  });

  it('sends an identify that has failed before the fresh events that wait for it', () => {
    expect(chosen([identify('a', { attempts: 2 }), entry({ user: 'a' })])).toEqual([[0]]);
  });

  describe('as the page leaves', () => {
    const isLeaving = true;

    it('sends events beside their identify, and failed records beside fresh ones', () => {
      const entries = [identify('a', { attempts: 2 }), entry({ user: 'a' }), entry()];
      expect(chosen(entries, { isLeaving })).toEqual([[0], [1], [2]]);
    });

    it('sends events beside an identify that is under way', () => {
      const underWay = identify('a');
      underWay.isSent = true;
      expect(chosen([underWay, entry({ user: 'a' })], { isLeaving })).toEqual([[1]]);
    });

    it('keeps events whose identify does not go, and second identifies', () => {
      const putOff = identify('a');
      const entries = [putOff, entry({ user: 'a' }), identify('b'), identify('b')];
      expect(chosen(entries, { isLeaving, mayGo: (one) => one !== putOff })).toEqual([[2]]);
    });
  });
});
