import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { advance } from '../../support/advance.js';
import {
  abortTransactions,
  closeConnection,
  forbidOpening,
  holdStore,
} from '../../support/break-storage.js';
import { createPage, LIMITS } from '../../support/create-page.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { openDatabase, readStored } from '../../support/stored.js';

const world = storageEach();
const pageOf = () => createPage(world.shelf);

const countTransactions = () => vi.spyOn(IDBDatabase.prototype, 'transaction');

describe('a write', () => {
  it("stores a task's records as one parcel, in one transaction", async () => {
    const page = pageOf();
    await page.refill();
    const transactions = countTransactions();
    page.add(...makeRecords(5));
    await settle();
    expect(transactions).toHaveBeenCalledTimes(1);
    const { ids, values } = await readStored();
    expect(ids).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
    expect(values).toMatchObject([{ holder: page.name, until: Date.now() + HOLD_MS, flight: [] }]);
  });

  it('is ended by an explicit commit', async () => {
    const commits = vi.spyOn(IDBTransaction.prototype, 'commit');
    pageOf().add(makeRecord('a'));
    await settle();
    expect(commits).toHaveBeenCalled();
  });

  it('keeps the order of the calls beyond ten records', async () => {
    const page = pageOf();
    page.add(...makeRecords(12));
    await settle();
    expect((await readStored()).ids).toEqual(makeRecords(12).map(({ id }) => id));
  });

  it('takes the records of each task, while the database is still opening too', async () => {
    const page = pageOf();
    for (const record of makeRecords(5)) {
      page.add(record);
      for (let i = 0; i < 3; i++) await Promise.resolve();
    }
    await settle();
    expect((await readStored()).ids).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  });

  it('does not read what is stored to add to it', async () => {
    const page = pageOf();
    page.add(...makeRecords(50));
    await settle(200);
    const reads = [
      vi.spyOn(IDBObjectStore.prototype, 'get'),
      vi.spyOn(IDBObjectStore.prototype, 'getAll'),
    ];
    page.add(makeRecord('one more'));
    await settle();
    for (const read of reads) expect(read).not.toHaveBeenCalled();
    expect((await readStored()).ids).toHaveLength(51);
  });

  it('names what is in flight', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    page.begin('r1');
    await settle();
    expect((await readStored()).values[0]?.flight).toEqual(['r1']);
  });

  it('names nothing where repeats are known', async () => {
    const page = createPage(world.shelf, { resends: true });
    page.add(...makeRecords(3));
    page.begin('r1');
    await settle();
    expect((await readStored()).values[0]?.flight).toEqual([]);
  });

  it('deletes many answered records in one transaction', async () => {
    const page = pageOf();
    page.add(...makeRecords(10));
    await settle();
    const transactions = countTransactions();
    for (const { id } of makeRecords(10)) page.outbox.finish(page.find(id));
    await advance(1_000);
    expect(transactions).toHaveBeenCalledTimes(1);
    expect((await readStored()).keys).toEqual([]);
  });

  it('deletes just what was answered, where it lies between others', async () => {
    const page = pageOf();
    page.add(...makeRecords(10));
    await settle();
    for (const n of [8, 1, 2, 5, 3]) page.outbox.finish(page.find(`r${n}`));
    await advance(1_000);
    expect((await readStored()).ids).toEqual(['r0', 'r4', 'r6', 'r7', 'r9']);
  });

  it('leaves no row where a record is delivered while it is being stored', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await Promise.resolve();
    page.outbox.finish(page.begin('a'));
    await advance(1_000);
    expect((await readStored()).keys).toEqual([]);
  });

  it('leaves no row where a record is delivered in the task of its call', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    page.outbox.finish(page.begin('a'));
    await advance(1_000);
    expect((await readStored()).keys).toEqual([]);
  });

  it('is spared where a record is delivered in the task of its call', async () => {
    const page = pageOf();
    await page.refill();
    const transactions = countTransactions();
    page.add(makeRecord('a'));
    page.outbox.finish(page.begin('a'));
    await advance(1_000);
    expect(transactions).not.toHaveBeenCalled();
  });

  it('leaves no row where the last records are answered as the time of their parcel runs out', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    const entries = ['r0', 'r1'].map((id) => page.begin(id));
    await advance(HOLD_MS - 1_000);
    vi.advanceTimersByTime(990);
    entries.forEach(page.outbox.finish);
    await advance(100);
    expect((await readStored()).ids).toEqual([]);
  });

  it('is spared where the page has let the parcel go', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    const [failing, passing] = [page.begin('r0'), page.begin('r1')];
    await advance(HOLD_MS);
    page.outbox.tidy();
    const transactions = countTransactions();
    page.outbox.putBack(failing);
    page.outbox.finish(passing);
    await advance(1_000);
    expect(transactions).not.toHaveBeenCalled();
  });

  it('that ends after its page has let the parcel go leaves nothing unsent', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    vi.setSystemTime(Date.now() + HOLD_MS - 1);
    void page.outbox.prepare([page.find('r1')]);
    for (let i = 0; i < 9; i++) await Promise.resolve(); // it has begun
    vi.setSystemTime(Date.now() + 1);
    page.outbox.tidy();
    expect(page.waiting()).toEqual([]);
    await settle();
    expect((await readStored()).values).toMatchObject([{ flight: ['r1'] }]);
    await advance(2 * HOLD_MS);
    page.outbox.look();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('is spared where the page lets the parcel go before it begins, and nothing else is touched', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    page.freeze();
    page.outbox.putBack(page.begin('r0'));
    await settle();
    page.add(makeRecord('new'));
    vi.setSystemTime(Date.now() + HOLD_MS);
    page.outbox.tidy();
    page.thaw();
    await settle();
    expect(page.waiting()).toEqual(['new']);
    expect(page.journal.kind()).toBe('indexeddb');
    expect(await pageOf().drain()).toEqual(['r0', 'r1']);
  });

  it('lets the parcels of a leaving page go, should the exit note be lost (Firefox)', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    page.add(makeRecord('last'));
    page.outbox.leave(true);
    world.shelf.values.clear();
    await settle();
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'last']);
  });

  it('holds its parcel anew', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    await advance(20_000);
    page.outbox.finish(page.begin('r0'));
    await settle();
    expect((await readStored()).values[0]?.until).toBe(Date.now() + HOLD_MS);
  });
});

describe('a page that holds a parcel', () => {
  it('may send it as long as a request may last', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await settle();
    await advance(HOLD_MS - LIMITS.timeout - 1);
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
    await advance(1);
    expect(page.outbox.canSend(page.find('a'))).toBe(false);
  });

  it('holds it for longer than a request whose timeout is long', async () => {
    const page = createPage(world.shelf, { timeout: 120_000 });
    page.add(makeRecord('a'));
    await settle();
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
  });

  it('does not hold it for longer by a write that failed', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    await advance(25_000);
    abortTransactions();
    page.begin('r1');
    await settle();
    expect(page.storage).toEqual(['indexeddb', 'memory']);
    await advance(4_000); // less than until storage is tried again
    vi.setSystemTime(Date.now() + 20_000);
    // 49 s have passed of 60: another page may claim it before a request of 30 s ends.
    expect(page.outbox.canSend(page.find('r0'))).toBe(false);
  });
});

describe('a page that is left after its time was over', () => {
  const idle = async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    vi.setSystemTime(Date.now() + HOLD_MS);
    const reads = vi.spyOn(IDBObjectStore.prototype, 'getAll');
    return { page, reads };
  };

  it('reads nothing on its way: all other pages would wait for it in WebKit', async () => {
    const { page, reads } = await idle();
    page.outbox.leave(true);
    await settle();
    expect(reads).not.toHaveBeenCalled();
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('breaks off what it reads, and the next page has the records', async () => {
    const { page } = await idle();
    page.outbox.seek();
    void page.outbox.refill(false);
    for (let i = 0; i < 9; i++) await Promise.resolve(); // it has begun
    const aborts = vi.spyOn(IDBTransaction.prototype, 'abort');
    page.outbox.leave(true);
    expect(aborts).toHaveBeenCalledOnce();
    await settle();
    expect(page.storage).toEqual(['indexeddb']);
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('does not send again what it had delivered, when it is back', async () => {
    const { page } = await idle();
    page.outbox.finish(page.begin('r1', false));
    page.outbox.leave(true);
    await settle();
    page.outbox.comeBack();
    expect(await page.drain()).toEqual(['r0', 'r2']);
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
  });

  it('looks for what others have left only when it is back', async () => {
    const { page, reads } = await idle();
    page.outbox.leave(true);
    expect(page.outbox.wantsMore()).toBe(false);
    page.outbox.comeBack();
    expect(page.outbox.wantsMore()).toBe(true);
    expect(reads).not.toHaveBeenCalled();
  });
});

describe('a write that fails', () => {
  it('is made up for in memory: nothing is lost, and the page hears of it', async () => {
    const page = pageOf();
    await page.refill();
    abortTransactions();
    page.add(...makeRecords(2));
    await settle();
    expect(page.storage).toEqual(['indexeddb', 'memory']);
    expect(await page.drain()).toEqual(['r0', 'r1']);
  });

  it('leaves its records to pages that have no database either', async () => {
    const page = pageOf();
    await page.refill();
    abortTransactions();
    page.add(...makeRecords(2));
    await settle();
    expect(page.journal.kind()).toBe('memory');
    page.outbox.leave(true);
    forbidOpening();
    expect(await pageOf().drain()).toEqual(['r0', 'r1']);
  });

  it('is in the note of the page as that is hidden', async () => {
    const page = pageOf();
    await page.refill();
    abortTransactions();
    page.add(...makeRecords(2));
    await settle();
    page.hide();
    page.kill();
    vi.setSystemTime(Date.now() + 2 * 3_600_000);
    expect(await pageOf().drain()).toEqual(['r0', 'r1']);
  });

  it('leaves no note of what others may have by then', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    const letGo = holdStore(await openDatabase());
    page.outbox.putBack(page.begin('r0'));
    await settle();
    vi.setSystemTime(Date.now() + HOLD_MS);
    page.outbox.tidy();
    await advance(1_500);
    letGo();
    expect(page.journal.kind()).toBe('memory');
    const other = pageOf();
    expect(await other.drain()).toEqual(['r0', 'r1']);
    await advance(1_000);
    page.hide();
    page.kill();
    vi.setSystemTime(Date.now() + 2 * 3_600_000);
    expect(await pageOf().drain()).toEqual([]);
  });

  it('keeps no later note from being taken away', async () => {
    const page = pageOf();
    await page.refill();
    abortTransactions();
    page.add(makeRecord('a'));
    await settle();
    expect(await page.drain()).toEqual(['a']);
    await advance(6_000);
    expect(page.journal.kind()).toBe('indexeddb');
    page.add(makeRecord('b'));
    page.hide();
    expect(world.shelf.keys()).toHaveLength(1);
    await settle();
    expect(world.shelf.keys()).toEqual([]);
  });

  it('leaves no note where storage works again before that is written', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    abortTransactions();
    page.add(makeRecord('new'));
    await settle();
    await advance(4_970); // storage is tried again after five seconds
    page.outbox.putBack(page.begin('r1'));
    await advance(40);
    expect(page.journal.kind()).toBe('indexeddb');
    await advance(100);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('is known to be stored where the next write, begun meanwhile, succeeds', async () => {
    const page = createPage(world.shelf, {}, () => {
      if (page.storage.length === 3) closeConnection();
    });
    await page.refill();
    abortTransactions();
    page.add(...makeRecords(2));
    for (let i = 0; i < 5; i++) await Promise.resolve();
    const named = page.outbox.prepare([page.find('r0')]);
    await settle();
    await named;
    expect(page.storage).toEqual(['indexeddb', 'memory', 'indexeddb', 'memory']);
    for (const id of ['r0', 'r1']) page.outbox.finish(page.begin(id));
    await advance(10_000);
    expect(page.journal.kind()).toBe('indexeddb');
    expect((await readStored()).ids).toEqual([]);
  });

  it('is written again once storage works again', async () => {
    const page = pageOf();
    await page.refill();
    closeConnection();
    page.add(...makeRecords(2));
    await settle();
    expect((await readStored()).ids).toEqual([]);
    await advance(6_000);
    expect(page.storage).toEqual(['indexeddb', 'memory', 'indexeddb']);
    expect((await readStored()).ids).toEqual(['r0', 'r1']);
    expect(await page.drain()).toEqual(['r0', 'r1']);
    await advance(1_000);
    expect((await readStored()).keys).toEqual([]);
  });

  it('deletes once storage works again what was delivered meanwhile', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    abortTransactions();
    page.outbox.finish(page.begin('r0'));
    await settle();
    page.outbox.finish(page.begin('r1'));
    expect(page.journal.kind()).toBe('memory');
    await advance(7_000);
    expect(page.journal.kind()).toBe('indexeddb');
    expect((await readStored()).ids).toEqual(['r2']);
  });

  it('leaves a note of all that was delivered and could not be deleted', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    closeConnection(99);
    for (const id of ['r0', 'r1']) {
      page.outbox.finish(page.begin(id, false));
      await advance(1_000);
    }
    vi.restoreAllMocks();
    vi.setSystemTime(Date.now() + 2 * HOLD_MS);
    expect(await pageOf().drain()).toEqual(['r2']);
  });

  it('leaves a note of the last delivery, which could not be deleted', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    abortTransactions();
    page.outbox.finish(page.begin('r0', false));
    await advance(1_000);
    expect(page.journal.kind()).toBe('memory');
    page.kill();
    vi.setSystemTime(Date.now() + 2 * HOLD_MS);
    expect(await pageOf().drain()).toEqual(['r1']);
  });

  it('leaves what is stored to others as its time runs out', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    await advance(HOLD_MS - LIMITS.timeout);
    abortTransactions();
    await page.outbox.prepare([page.find('r0')]);
    expect(page.journal.kind()).toBe('memory');
    expect(page.outbox.canSend(page.find('r0'))).toBe(false);
    void page.outbox.prepare([]);
    await advance(2 * HOLD_MS);
    expect(page.journal.kind()).toBe('indexeddb');
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('never brings a second delivery where it was only slow: it is done after it was given up', async () => {
    const page = pageOf();
    await page.refill();
    const letGo = holdStore(await openDatabase());
    page.add(makeRecord('a'));
    await advance(1_500);
    expect(page.journal.kind()).toBe('memory');
    const sent = await page.drain();
    expect(sent).toEqual(['a']);
    letGo();
    await advance(1_000); // the page is closed before storage is tried again
    vi.setSystemTime(Date.now() + 2 * HOLD_MS);
    const next = pageOf();
    expect(await next.drain()).toEqual([]);
  });

  it('never makes a second attempt in a tight loop', async () => {
    const page = pageOf();
    await page.refill();
    closeConnection(1e9);
    const transactions = vi.mocked(IDBDatabase.prototype.transaction);
    for (const record of makeRecords(50)) {
      page.add(record);
      await settle(3);
    }
    await advance(60_000);
    expect(transactions.mock.calls.length).toBeLessThan(5);
    expect(await page.drain()).toHaveLength(50);
  });
});

describe('the note of a hidden page', () => {
  const hidden = async () => {
    const page = pageOf();
    await page.refill();
    page.add(makeRecord('first'));
    for (let i = 0; i < 9; i++) await Promise.resolve(); // its write is on its way
    return page;
  };

  it('goes once all of it is stored', async () => {
    const page = await hidden();
    page.hide();
    expect(world.shelf.keys()).toHaveLength(1);
    await settle();
    expect(world.shelf.keys()).toEqual([]);
    expect((await readStored()).ids).toEqual(['first']);
  });

  it('stays while part of it is not stored', async () => {
    const page = await hidden();
    page.dropWrites();
    page.add(makeRecord('second'));
    page.hide();
    await settle();
    expect((await readStored()).ids).toEqual(['first']);
    page.kill();
    await advance(2 * HOLD_MS);
    expect((await pageOf().drain()).sort()).toEqual(['first', 'second']);
  });

  it('stays while its page lives, though others look for what is left', async () => {
    const page = await hidden();
    page.dropWrites();
    page.add(makeRecord('second'));
    page.hide();
    await settle();
    expect(await pageOf().drain()).toEqual([]);
    page.kill();
    await advance(2 * HOLD_MS);
    expect((await pageOf().drain()).sort()).toEqual(['first', 'second']);
  });

  it('says what one of two writes of the same parcel has yet to store', async () => {
    const page = pageOf();
    page.add(...makeRecords(2));
    await settle();
    const database = await openDatabase();
    const letFirstGo = holdStore(database);
    page.begin('r0');
    await settle(5);
    page.dropWrites(); // the second one is never stored
    page.begin('r1');
    await settle(5);
    letFirstGo();
    await settle(20);
    page.hide();
    page.kill();
    database.close();
    await advance(2 * HOLD_MS);
    const next = pageOf();
    expect(await next.drain()).toEqual([]);
    expect(next.unknown.sort()).toEqual(['r0', 'r1']);
  });

  it('is not written where all is stored', async () => {
    const page = await hidden();
    await settle();
    page.hide();
    expect(world.shelf.keys()).toEqual([]);
  });

  it('stays where an earlier write ends after the page was left and came back', async () => {
    const page = await hidden();
    page.add(makeRecord('second'));
    abortTransactions(); // what a leaving page writes is lost in WebKit
    page.outbox.leave(true);
    page.outbox.comeBack();
    await settle();
    page.kill();
    await advance(2 * HOLD_MS);
    expect((await pageOf().drain()).sort()).toEqual(['first', 'second']);
  });
});
