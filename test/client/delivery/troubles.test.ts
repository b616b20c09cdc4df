import { expect, it } from 'vitest';
import { createTroubles } from '../../../src/client/delivery/troubles.js';
import { createEntry, createParcel } from '../../../src/client/outbox/parcel.js';
import { makeRecord } from '../../support/make-record.js';

const entryOf = (id: string) => createEntry(makeRecord(id), createParcel([0, 'maker', 1]));
const [a, b] = [entryOf('a'), entryOf('b')];

it('names the next time at which one is due, and none that is past', () => {
  const troubles = createTroubles();
  troubles.putOff([a], 1_000);
  troubles.putOff([b], 2_000);
  const next = [0, 999, 1_000, 1_999, 2_000].map((time) => troubles.nextDue(time, 5_000));
  expect(next).toEqual([1_000, 1_000, 2_000, 2_000, Infinity]);
});

it('forgets the troubles of a record that has passed', () => {
  const troubles = createTroubles();
  troubles.fail([a, b], 0, 0);
  troubles.forget(a);
  expect([a, b].map((entry) => troubles.see(entry).failures)).toEqual([0, 1]);
});
