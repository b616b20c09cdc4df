import { describe, expect, it, vi } from 'vitest';
import { LEASE_MS } from '../../src/outbox/lease.js';
import { advance } from '../support/advance.js';
import { abortTransactions, closeConnection, holdStore } from '../support/break-storage.js';
import { createPage, LIMITS } from '../support/create-page.js';
import { makeRecord, makeRecords } from '../support/make-record.js';
import { settle } from '../support/settle.js';
import { storageEach } from '../support/storage-each.js';
import { openDatabase, readStored } from '../support/stored.js';

const world = storageEach();
const pageOf = () => createPage(world.shelf);

const countTransactions = () => vi.spyOn(IDBDatabase.prototype, 'transaction');

describe('a write', () => {
  it("stores a task's records in one transaction, with the lease", async () => {
    const page = pageOf();
    await page.refill();
    const transactions = countTransactions();
    page.add(...makeRecords(5));
    await settle();
    expect(transactions).toHaveBeenCalledTimes(1);
    const { ids, leases, values } = await readStored();
    expect(ids).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
    expect(values).toMatchObject([{ v: 1 }]);
    expect(leases).toMatchObject([
      { v: 1, holder: page.name, until: Date.now() + LEASE_MS, flight: [], count: 5 },
    ]);
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

  it('names in the lease what is in flight', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    page.begin('r1');
    await settle();
    expect((await readStored()).leases[0]?.flight).toEqual([1]);
  });

  it('names what is delivered as in flight until it is deleted', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    page.outbox.finish(page.begin('r1'));
    page.begin('r2');
    await settle();
    const before = await readStored();
    expect(before.ids).toContain('r1');
    expect([...before.leases[0]!.flight].sort()).toEqual([1, 2]);
    await advance(1_000);
    const after = await readStored();
    expect(after.ids).toEqual(['r0', 'r2']);
    expect(after.leases[0]!.flight).toEqual([2]);
  });

  it('leaves the lease standing as long as a row of its owner does', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await settle();
    page.outbox.finish(page.begin('a'));
    await settle();
    expect((await readStored()).ids).toEqual(['a']);
    vi.clearAllTimers(); // the page is killed
    vi.setSystemTime(Date.now() + LEASE_MS);
    const next = pageOf();
    expect(await next.drain()).toEqual([]);
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
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

  it('renews the lease', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await settle();
    await advance(20_000);
    page.add(makeRecord('b'));
    await settle();
    expect((await readStored()).leases[0]?.until).toBe(Date.now() + LEASE_MS);
    expect(page.find('a').hold.until).toBe(Date.now() + LEASE_MS);
  });
});

describe('a lease', () => {
  it('covers a request as long as it may last', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await settle();
    await advance(LEASE_MS - LIMITS.timeout - 1);
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
    await advance(1);
    expect(page.outbox.canSend(page.find('a'))).toBe(false);
  });

  it('is lengthened where it is still its own', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await settle();
    await advance(LEASE_MS - LIMITS.timeout);
    await page.outbox.renew(page.find('a').hold);
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
    expect((await readStored()).leases[0]?.until).toBe(Date.now() + LEASE_MS);
  });

  it('outlasts a request whose timeout is longer than it', async () => {
    const page = createPage(world.shelf, { timeout: 120_000 });
    page.add(makeRecord('a'));
    await settle();
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
  });

  it('is not taken for lengthened by a write that failed', async () => {
    const page = pageOf();
    page.add(makeRecord('a'));
    await settle();
    await advance(25_000);
    abortTransactions();
    page.add(makeRecord('b'));
    await settle();
    expect(page.storage).toEqual(['indexeddb', 'memory']);
    await advance(4_000); // less than until storage is tried again
    vi.setSystemTime(Date.now() + 20_000);
    // 49 s have passed of 60: another page may adopt before a request of 30 s ends.
    const entry = page.find('a');
    expect(entry === undefined || !page.outbox.canSend(entry)).toBe(true);
  });
});

describe('a page that is left after its lease has ended', () => {
  /** A page of which one record is delivered and not yet deleted, and how often it reads from here on. */
  const idle = async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    vi.setSystemTime(Date.now() + LEASE_MS);
    const reads = vi.spyOn(IDBObjectStore.prototype, 'get');
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
    const { page, reads } = await idle();
    const renewing = page.outbox.renew(page.find('r0').hold);
    await Promise.resolve();
    expect(reads).toHaveBeenCalledOnce();
    const aborts = vi.spyOn(IDBTransaction.prototype, 'abort');
    page.outbox.leave(true);
    expect(aborts).toHaveBeenCalledOnce();
    await renewing;
    expect(page.storage).toEqual(['indexeddb']);
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('deletes when it is back what it had delivered', async () => {
    const { page } = await idle();
    page.outbox.finish(page.begin('r1', false));
    page.outbox.leave(true);
    await settle();
    expect((await readStored()).ids).toEqual(['r0', 'r1', 'r2']);
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
    vi.setSystemTime(Date.now() + 2 * LEASE_MS);
    expect(await pageOf().drain()).toEqual(['r2']);
  });

  it('keeps for others what it gave up in memory', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    await advance(LEASE_MS - LIMITS.timeout);
    abortTransactions();
    await page.outbox.renew(page.find('r0').hold);
    expect(page.journal.kind()).toBe('memory');
    const sent = await page.drain();
    await advance(6_000);
    expect(page.journal.kind()).toBe('indexeddb');
    await advance(2 * LEASE_MS);
    sent.push(...(await page.drain()), ...(await pageOf().drain()));
    expect(sent.sort()).toEqual(['r0', 'r1', 'r2']);
  });

  it('keeps for others what it gave up in memory as it was about to send it', async () => {
    const page = pageOf();
    page.add(...makeRecords(3));
    await settle();
    await advance(LEASE_MS - LIMITS.timeout);
    abortTransactions();
    const given = page.find('r0');
    void page.outbox.announce([given]);
    await settle();
    await page.outbox.renew(given.hold);
    expect(given.hold.lost).toBe(true);
    page.outbox.announce([]);
    await advance(6_000);
    expect(page.journal.kind()).toBe('indexeddb');
    await advance(2 * LEASE_MS);
    expect((await pageOf().drain()).sort()).toEqual(['r0', 'r1', 'r2']);
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
    vi.setSystemTime(Date.now() + 2 * LEASE_MS);
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

describe('an exit note in memory', () => {
  it('does not grow with each call in what it costs', async () => {
    closeConnection(1e9);
    const page = pageOf();
    await page.refill();
    page.add(...makeRecords(500));
    page.outbox.leave(false);
    await settle();
    const written = vi.spyOn(world.shelf, 'set');
    for (let i = 0; i < 50; i++) {
      page.add(makeRecord(`late${i}`));
      await Promise.resolve();
    }
    await settle();
    const bytes = written.mock.calls.reduce((sum, [, value]) => sum + (value?.length ?? 0), 0);
    expect(bytes).toBeLessThan(500_000);
  });
});
