import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { PARCEL_RECORDS } from '../../../src/client/outbox/parcel.js';
import { WINDOW } from '../../../src/client/outbox/stored.js';
import { advance } from '../../support/advance.js';
import { abortTransactions, holdStore } from '../../support/break-storage.js';
import { createPage, type Page } from '../../support/create-page.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { pagesIn } from '../../support/pages-in.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { openDatabase, putStored, readStored } from '../../support/stored.js';

const world = storageEach();
const { pageOf, leaveBehind } = pagesIn(world);

describe('a look for what others have left', () => {
  it('is made once as a page starts, in the transaction that opens the database', async () => {
    const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
    const page = pageOf();
    await page.refill();
    expect(page.storage).toEqual(['indexeddb']);
    expect(begun.mock.calls.filter(([, mode]) => mode === 'readwrite')).toHaveLength(1);
  });

  it('is made once where it is asked for twice at the same time', async () => {
    const page = pageOf();
    await page.refill();
    const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
    page.outbox.look();
    await Promise.all([page.outbox.refill(false), page.outbox.refill(false)]);
    expect(begun).toHaveBeenCalledTimes(1);
  });

  it('is made again where it is asked for while one is under way', async () => {
    await leaveBehind();
    const page = pageOf();
    await page.refill();
    await advance(HOLD_MS - 200);
    page.outbox.look();
    const letGo = holdStore(await openDatabase());
    const looking = page.outbox.refill(false);
    await advance(500); // what was left is anybody's by now, and was not as the look began
    page.outbox.look();
    letGo();
    await looking;
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('claims nothing by a clock that is set forward while it waits for others', async () => {
    const living = await leaveBehind();
    const page = pageOf();
    await page.refill();
    page.outbox.look();
    const letGo = holdStore(await openDatabase());
    const looking = page.outbox.refill(false);
    await settle();
    const time = Date.now();
    vi.setSystemTime(time + HOLD_MS);
    letGo();
    await looking;
    vi.setSystemTime(time);
    expect(page.waiting()).toEqual([]);
    expect(await living.drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('claims nothing that is held though it stands still for an hour as it begins', async () => {
    const page = pageOf();
    await page.refill();
    page.outbox.look();
    page.freeze();
    const looking = page.outbox.refill(false);
    await settle();
    vi.setSystemTime(Date.now() + 3_600_000);
    const living = pageOf();
    living.add(...makeRecords(3));
    living.outbox.leave(false); // notes what is not stored yet, and holds it
    page.thaw();
    await looking;
    expect(page.waiting()).toEqual([]);
    expect(await living.drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('is made again by a page that was left and came back while one was under way', async () => {
    const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
    const page = pageOf();
    await page.refill();
    page.outbox.seek();
    const looking = page.outbox.refill(false);
    for (let i = 0; i < 30; i++) await Promise.resolve(); // it has begun
    page.outbox.leave(true);
    page.outbox.comeBack();
    await looking;
    begun.mockClear();
    await page.refill();
    expect(begun).toHaveBeenCalledTimes(1);
  });
});

describe('a parcel whose time is over', () => {
  it('is left alone while it lasts', async () => {
    await leaveBehind();
    await advance(HOLD_MS - 1_000);
    const page = pageOf();
    expect(await page.drain()).toEqual([]);
  });

  it('is counted as elsewhere while it lasts, and as waiting when it is claimed', async () => {
    await leaveBehind();
    const page = pageOf();
    page.add(makeRecord('own'));
    const counts = () => [page.outbox.waiting(), page.outbox.elsewhere()];
    expect(counts()).toEqual([1, undefined]);
    await page.refill();
    expect(counts()).toEqual([1, 3]);
    await advance(HOLD_MS);
    page.outbox.look();
    await page.refill();
    expect(counts()).toEqual([4, 0]);
  });

  it('is claimed, its records in the order of their calls', async () => {
    await leaveBehind();
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('is claimed by exactly one of two pages that look at once', async () => {
    await leaveBehind(makeRecords(30));
    await advance(HOLD_MS);
    const sent = await Promise.all([pageOf().drain(), pageOf().drain()]);
    expect(sent.flat().sort()).toEqual(
      makeRecords(30)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('leaves nothing in the outbox once all was sent', async () => {
    await leaveBehind();
    await advance(HOLD_MS);
    await pageOf().drain();
    await advance(1_000);
    expect((await readStored()).keys).toEqual([]);
  });

  it('is claimed though it ends far in the future, because the clock was set back', async () => {
    await leaveBehind();
    vi.setSystemTime(Date.now() - 365 * 86_400_000);
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'r2']);
  });
});

describe('a parcel that its page let go while a write that holds it for longer was under way', () => {
  const letGoMeanwhile = async () => {
    const page = await leaveBehind();
    await page.refill();
    await advance(HOLD_MS - 100);
    const letGo = holdStore(await openDatabase());
    void page.outbox.prepare([page.find('r0')]);
    await advance(200);
    return { page, letGo };
  };

  it('is taken back at once by that page', async () => {
    const { page, letGo } = await letGoMeanwhile();
    page.outbox.tidy();
    expect(page.waiting()).toEqual([]);
    letGo();
    await page.refill();
    expect(page.waiting()).toEqual(['r0', 'r1', 'r2']);
    expect([page.outbox.waiting(), page.outbox.elsewhere()]).toEqual([3, 0]);
    expect(page.unknown).toEqual([]);
  });

  it('is taken back where another write let it go', async () => {
    const { page, letGo } = await letGoMeanwhile();
    page.outbox.finish(page.begin('r1'));
    await advance(100);
    expect(page.waiting()).toEqual([]);
    expect(page.outbox.waiting()).toBe(2);
    letGo();
    await page.refill();
    expect(page.waiting()).toEqual(['r0', 'r2']);
    expect(page.outbox.waiting()).toBe(2);
    expect(page.unknown).toEqual([]);
  });

  it('is counted once where it is let go before that write has begun', async () => {
    const page = await leaveBehind();
    await page.refill();
    await advance(HOLD_MS);
    void page.outbox.prepare([page.find('r0')]);
    await Promise.resolve();
    page.outbox.tidy();
    await settle();
    expect(page.outbox.waiting()).toBe(3);
  });

  it('is no other page’s', async () => {
    const { page, letGo } = await letGoMeanwhile();
    page.outbox.tidy();
    letGo();
    await settle();
    expect(await pageOf().drain()).toEqual([]);
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
  });
});

describe('a parcel that was let go', () => {
  it('is claimed at once', async () => {
    const left = await leaveBehind();
    left.outbox.leave(true);
    await settle();
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'r2']);
  });

  it('is claimed again by the page that let it go and came back', async () => {
    const page = await leaveBehind();
    page.outbox.leave(true);
    expect(page.waiting()).toEqual([]);
    page.outbox.comeBack();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('leaves a tombstone once all was sent, also where that page looks again', async () => {
    const left = await leaveBehind();
    left.outbox.leave(true);
    await settle();
    const page = pageOf();
    await page.drain();
    await advance(1_000);
    page.outbox.look();
    await page.refill();
    expect((await readStored()).keys).toHaveLength(1);
  });

  it('leaves no trace once all was sent', async () => {
    const left = await leaveBehind();
    left.outbox.leave(true);
    await settle();
    await pageOf().drain();
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
    expect(world.shelf.keys()).toEqual([]);
    await advance(HOLD_MS);
    await pageOf().refill(); // takes away the tombstone of what came out of a note
    expect((await readStored()).keys).toEqual([]);
  });
});

describe('older parcels', () => {
  it("are claimed though many of the page's own records wait", async () => {
    await leaveBehind();
    await advance(HOLD_MS);
    const page = pageOf();
    page.add(...makeRecords(30, 'own'));
    await page.refill();
    expect(page.waiting().slice(0, 4)).toEqual(['r0', 'r1', 'r2', 'own0']);
  });

  it('go first', async () => {
    const start = Date.now();
    await leaveBehind([makeRecord('late', { at: start + 500 })]);
    await leaveBehind([makeRecord('early', { at: start })]);
    await advance(HOLD_MS);
    expect(await pageOf().drain()).toEqual(['early', 'late']);
  });

  it("go before this page's own records", async () => {
    await leaveBehind();
    await advance(HOLD_MS);
    const page = pageOf();
    page.add(makeRecord('own'));
    await page.refill();
    expect(page.waiting()).toEqual(['r0', 'r1', 'r2', 'own']);
  });

  it('go by what waits there, not by what was sent long before', async () => {
    const pages = [createPage(world.shelf), createPage(world.shelf)];
    const [long, short] = [pages[0]!, pages[1]!];
    long.add(makeRecord('sent', { at: Date.now() }));
    expect(await long.drain()).toEqual(['sent']);
    await advance(10_000);
    short.add(makeRecord('first', { at: Date.now() }));
    await advance(10_000);
    long.add(makeRecord('second', { at: Date.now() }));
    await settle();
    for (const page of pages) page.kill();
    await advance(HOLD_MS);
    expect(await createPage(world.shelf).drain()).toEqual(['first', 'second']);
  });

  it('are known to be unread until all was read', async () => {
    await leaveBehind();
    await advance(HOLD_MS);
    const page = pageOf();
    expect(page.outbox.hasUnread()).toBe(true);
    await page.refill();
    expect(page.outbox.hasUnread()).toBe(false);
  });
});

describe('a backlog larger than a window', () => {
  const ids = Array.from({ length: PARCEL_RECORDS * WINDOW + 50 }, (_, i) => `b${i}`);
  const leaveBacklog = () => leaveBehind(makeRecords(ids.length, 'b'));

  it('is read in windows', async () => {
    await leaveBacklog();
    await advance(HOLD_MS);
    const page = pageOf();
    await page.refill();
    expect(page.waiting()).toEqual(ids.slice(0, PARCEL_RECORDS * WINDOW));
    expect(page.outbox.wantsMore()).toBe(false);
    expect(page.outbox.hasUnread()).toBe(true);
  });

  it('is read once, window by window, though all of it is wanted at once', async () => {
    await leaveBacklog();
    await advance(HOLD_MS);
    const reads = vi.spyOn(IDBObjectStore.prototype, 'getAll');
    const page = pageOf();
    await page.refill(true);
    expect(page.waiting()).toEqual(ids);
    expect(reads).toHaveBeenCalledTimes(2);
  });

  it('is drained, each once and in order', async () => {
    await leaveBacklog();
    await advance(HOLD_MS);
    expect(await pageOf().drain()).toEqual(ids);
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
  });

  it('is taken up by the next page where one was killed half-way', async () => {
    await leaveBacklog();
    await advance(HOLD_MS);
    const killed = pageOf();
    await killed.refill();
    for (const id of ids.slice(0, 40)) killed.outbox.finish(killed.begin(id));
    await advance(HOLD_MS + 1_000);
    const next = pageOf();
    expect(await next.drain()).toEqual(ids.slice(40));
    expect(next.unknown).toEqual([]);
  });

  it('is read on though the records read so far all wait for one that keeps failing', async () => {
    const at = Date.now();
    await leaveBehind([
      makeRecord('poison', { type: 'identify', user: 'u', at }),
      ...makeRecords(PARCEL_RECORDS * WINDOW + 20, 'behind', { user: 'u', at }),
      makeRecord('free', { at }),
    ]);
    await advance(HOLD_MS);
    const page = pageOf();
    await page.refill();
    await page.refill(true);
    expect(page.waiting()).toContain('free');
  });

  it('is not forgotten where storage failed in between and works again', async () => {
    await leaveBacklog();
    await advance(HOLD_MS);
    const page = pageOf();
    await page.refill();
    abortTransactions();
    page.add(makeRecord('own'));
    await settle();
    expect(page.journal.kind()).toBe('memory');
    const sent = await page.drain();
    await advance(6_000);
    expect(page.journal.kind()).toBe('indexeddb');
    sent.push(...(await page.drain()));
    await advance(2 * HOLD_MS);
    sent.push(...(await pageOf().drain()));
    expect(sent.filter((id) => id !== 'own').sort()).toEqual([...ids].sort());
  });
});

describe('a backlog of records that were each stored alone', () => {
  const COUNT = WINDOW + 10;
  const store = async (page: Page) => {
    for (const record of makeRecords(COUNT, 'r', { bytes: 100 })) {
      page.add(record);
      await settle(3);
    }
    await settle();
  };

  it('is counted though part of it is unread', async () => {
    const dead = pageOf();
    await store(dead);
    dead.kill();
    await advance(HOLD_MS / 2);
    const page = pageOf();
    page.add(makeRecord('own'));
    await page.refill();
    await advance(HOLD_MS / 2);
    page.outbox.look();
    await page.refill();
    expect(page.waiting()).toHaveLength(WINDOW + 1);
    expect(page.outbox.waiting()).toBe(COUNT + 1);
  });

  it('is counted by its own page, which let it go and claims it again', async () => {
    const page = pageOf();
    await store(page);
    await advance(HOLD_MS);
    page.outbox.tidy();
    expect(page.outbox.waiting()).toBe(COUNT);
    await page.refill();
    expect(page.waiting()).toHaveLength(WINDOW);
    expect(page.outbox.waiting()).toBe(COUNT);
  });

  it('counts towards maxBytes while it is claimed again', async () => {
    const page = pageOf({ maxBytes: 3_500 });
    await store(page);
    await advance(HOLD_MS);
    page.outbox.tidy();
    await page.refill();
    page.add(makeRecord('fits', { bytes: 400 }));
    await settle();
    expect(page.drops).toEqual([]);
    page.add(makeRecord('full', { bytes: 400 }));
    await settle(200);
    expect(page.drops.map(({ id }) => id)).toEqual(['r0', 'r1', 'r2']);
  });

  it('is counted no longer once another page has delivered it', async () => {
    const page = pageOf();
    await store(page);
    await advance(HOLD_MS);
    page.outbox.tidy();
    expect(await pageOf().drain()).toHaveLength(COUNT);
    await advance(1_000);
    page.outbox.look();
    await page.refill();
    expect(page.outbox.waiting()).toBe(0);
  });
});

describe('what is stored', () => {
  it('for longer than maxAge is dropped as expired', async () => {
    const at = Date.now();
    await leaveBehind([makeRecord('old', { at }), makeRecord('young', { at: at + 5_000 })]);
    vi.setSystemTime(at + 604_800_001);
    const page = pageOf();
    expect(await page.drain()).toEqual(['young']);
    expect(page.drops).toEqual([{ id: 'old', reason: 'expired' }]);
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
  });

  it('beyond maxRecords loses the oldest events and no identify', async () => {
    const left = pageOf();
    // Each in a task of its own: parcels are what is counted there.
    for (const record of [makeRecord('who', { type: 'identify', user: 'u' }), ...makeRecords(9)]) {
      left.add(record);
      await settle();
    }
    await advance(HOLD_MS);
    const page = pageOf({ maxRecords: 7 });
    expect(await page.drain()).toEqual(['who', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8']);
    expect(page.drops).toEqual(['r0', 'r1', 'r2'].map((id) => ({ id, reason: 'outbox-full' })));
  });

  it.each([
    ['a later version', { v: 3, holder: '', until: 0, flight: [], records: [] }],
    ['a later version of another shape', { v: 3, packed: ['{}'] }],
    ['no version', { id: 'odd' }],
    ['a text', 'odd'],
    ['holes', { v: 2, holder: '', until: 0, flight: [], records: [null] }],
    ['nothing', null],
  ])('in %s is dropped as unreadable, and nothing else is', async (_, value) => {
    await leaveBehind();
    await putStored([
      [['lease', 'x'], value],
      [[Date.now(), 'x', 1], value],
    ]);
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.drops.map(({ reason }) => reason)).toEqual(['unreadable', 'unreadable']);
    await advance(1_000);
    expect(page.storage).toEqual(['indexeddb']);
    expect((await readStored()).keys).toEqual([]);
  });
});
