import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { advance } from '../../support/advance.js';
import { abortTransactions, holdStore } from '../../support/break-storage.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { pagesIn } from '../../support/pages-in.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { openDatabase, readStored } from '../../support/stored.js';

const world = storageEach();
const { pageOf, leaveBehind } = pagesIn(world);

const countTransactions = () => vi.spyOn(IDBDatabase.prototype, 'transaction');
const flightStored = async () => (await readStored()).values.flatMap(({ flight }) => flight);

describe('a record that is about to be sent', () => {
  it('is named in the database first', async () => {
    const page = await leaveBehind();
    const prepared = page.outbox.prepare([page.find('r1')]);
    expect(page.outbox.canSend(page.find('r1'))).toBe(false);
    await prepared;
    expect(page.outbox.canSend(page.find('r1'))).toBe(true);
    expect(await flightStored()).toEqual(['r1']);
  });

  it('does not wait for a slow database for long', async () => {
    const page = await leaveBehind();
    const letGo = holdStore(await openDatabase());
    const prepared = page.outbox.prepare([page.find('r1')]);
    await advance(100);
    await prepared;
    expect(page.outbox.canSend(page.find('r1'))).toBe(true);
    letGo();
  });

  it('does not wait for a database that has failed meanwhile', async () => {
    const page = await leaveBehind();
    abortTransactions();
    void page.outbox.prepare([page.find('r1')]);
    await settle();
    expect(page.journal.kind()).toBe('memory');
    expect(page.outbox.canSend(page.find('r1'))).toBe(true);
    expect(page.outbox.prepare([page.find('r1')])).toBeUndefined();
  });

  it('is named once, whatever is prepared and sent after', async () => {
    const page = await leaveBehind();
    await page.outbox.prepare([page.find('r1')]);
    const transactions = countTransactions();
    expect(page.outbox.prepare([page.find('r1')])).toBeUndefined();
    page.begin('r1');
    await settle();
    expect(transactions).not.toHaveBeenCalled();
  });

  it('stays named where more is prepared with it', async () => {
    const page = await leaveBehind();
    await page.outbox.prepare([page.find('r1')]);
    await page.outbox.prepare([page.find('r1'), page.find('r2')]);
    expect((await flightStored()).sort()).toEqual(['r1', 'r2']);
  });

  it('is named no longer where something else is sent instead', async () => {
    const page = await leaveBehind();
    await page.outbox.prepare([page.find('r1')]);
    await page.outbox.prepare([page.find('r2')]);
    expect(await flightStored()).toEqual(['r2']);
    page.begin('r2');
    await page.outbox.prepare([page.find('r0')]);
    expect((await flightStored()).sort()).toEqual(['r0', 'r2']);
  });

  it('is not written where repeats are known', async () => {
    const page = pageOf({ resends: true });
    page.add(...makeRecords(2));
    await settle();
    const transactions = countTransactions();
    expect(page.outbox.prepare([page.find('r0')])).toBeUndefined();
    page.begin('r0');
    page.begin('r1', false);
    await settle();
    expect(transactions).not.toHaveBeenCalled();
  });

  it('is not written where its request ends with the page', async () => {
    const page = await leaveBehind();
    const transactions = countTransactions();
    page.begin('r1', false);
    await settle();
    expect(transactions).not.toHaveBeenCalled();
  });
});

describe('a record whose page was left while it was in flight', () => {
  it('is counted as unknown by whoever claims it, and by nobody else', async () => {
    const left = await leaveBehind();
    const entry = left.begin('r1');
    left.outbox.leave(true);
    await settle();
    left.outbox.abandon(entry);
    const next = pageOf();
    expect(await next.drain()).toEqual(['r0', 'r2']);
    expect([left.unknown, next.unknown]).toEqual([[], ['r1']]);
  });

  it('is counted as unknown by that page where it comes back and claims it', async () => {
    const page = await leaveBehind();
    const entry = page.begin('r1');
    page.outbox.leave(true);
    await settle();
    page.outbox.abandon(entry);
    page.outbox.comeBack();
    expect(await page.drain()).toEqual(['r0', 'r2']);
    expect(page.unknown).toEqual(['r1']);
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
  });

  it('is counted at once where the page still has it, and is never sent again', async () => {
    const page = await leaveBehind([makeRecord('a')]);
    page.outbox.abandon(page.begin('a'));
    expect(page.unknown).toEqual(['a']);
    await advance(2 * HOLD_MS);
    const next = pageOf();
    expect(await next.drain()).toEqual([]);
    expect(next.unknown).toEqual([]);
  });
});
