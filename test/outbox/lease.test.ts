import { describe, expect, it } from 'vitest';
import { commit, createJournal } from '../../src/outbox/journal.js';
import {
  getLease,
  getNumbers,
  recordsOf,
  strikeRecords,
  type Numbered,
} from '../../src/outbox/lease.js';
import { DATABASE } from '../support/create-page.js';
import { makeRecord } from '../support/make-record.js';
import { storageEach } from '../support/storage-each.js';
import { putStored, readStored } from '../support/stored.js';

storageEach();

const journalOf = () => createJournal({ name: DATABASE, onChange: () => undefined });
const three: Numbered[] = ['a', 'b', 'c'].map((id, seq) => [seq, makeRecord(id)]);

const strike = (...seqs: number[]) =>
  journalOf().run((store, done) => {
    strikeRecords(store, 'o', 0, new Set(seqs), () => {
      commit(store);
      done(undefined);
    });
  });

describe('striking records out of a value', () => {
  it('leaves the others', async () => {
    await putStored([[['o', 0], { v: 1, records: three }]]);
    await strike(0, 2);
    expect((await readStored()).ids).toEqual(['b']);
  });

  it.each([
    ['all of them', { v: 1, records: three }],
    ['what another version has written', { v: 2, records: three }],
    ['what cannot be read', 'odd'],
  ])('takes the value away with %s', async (_, value) => {
    await putStored([[['o', 0], value]]);
    await strike(0, 1, 2);
    expect((await readStored()).keys).toEqual([]);
  });

  it('does nothing where it is gone', async () => {
    await strike(0);
    expect((await readStored()).keys).toEqual([]);
  });
});

describe('what is stored', () => {
  it('has numbers as far as it can be read', async () => {
    await putStored([
      [['o', 0], { v: 1, records: three }],
      [['o', 5], { v: 2, records: [[5, makeRecord('d')]] }],
      [['o', 6], 'odd'],
      [['other', 7], { v: 1, records: [[7, makeRecord('e')]] }],
    ]);
    const numbers = await journalOf().run<number[]>((store, done) => getNumbers(store, 'o', done));
    expect(numbers).toEqual([0, 1, 2]);
  });

  it.each([
    ['no version', { records: three }],
    ['no records', { v: 1 }],
    ['records that are no list', { v: 1, records: 'abc' }],
    ['a record without a body among others', { v: 1, records: [...three, [3, { id: 'd' }]] }],
    ['a number alone', { v: 1, records: [...three, [3]] }],
    ['a hole', { v: 1, records: [...three, null] }],
  ])('with %s is not ours', (_, stored) => {
    expect(recordsOf(stored as never)).toBeUndefined();
  });
});

describe('reading', () => {
  it('that goes wrong undoes its transaction, and throws at nobody', async () => {
    await putStored([[['lease', 'o'], { v: 1, owner: 'o' }]]);
    const work = journalOf().run((store) => {
      store.delete(['lease', 'o']);
      getLease(store, 'o', () => {
        throw new Error('without an in-progress transaction');
      });
    });
    await expect(work).rejects.toThrow();
    expect((await readStored()).leases).toHaveLength(1);
  });
});
