import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { PARCEL_RECORDS } from '../../../src/client/outbox/parcel.js';
import { WINDOW } from '../../../src/client/outbox/stored.js';
import { advance } from '../../support/advance.js';
import { abortTransactions, closeConnection, forbidOpening } from '../../support/break-storage.js';
import { createPage, DATABASE } from '../../support/create-page.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { putStored, readStored } from '../../support/stored.js';

const world = storageEach();
const pageOf = (limits = {}) => createPage(world.shelf, limits);

/** A page that stores these and dies. */
const leaveBehind = async (records = makeRecords(3)) => {
  const page = pageOf();
  page.add(...records);
  await settle(60 + 2 * records.length);
  return page;
};

describe('a look for what others have left', () => {
  it('is made once as a page starts, in the transaction that opens the database', async () => {
    const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
    const page = pageOf();
    await page.refill();
    expect(page.storage).toEqual(['indexeddb']);
    expect(begun.mock.calls.filter(([, mode]) => mode === 'readwrite')).toHaveLength(1);
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
    expect(page.outbox.hasUnread()).toBe(true);
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

describe('a record in flight', () => {
  it('is unknown to the claimer, counted once and not sent again', async () => {
    const left = await leaveBehind();
    left.begin('r1');
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r2']);
    expect(page.unknown).toEqual(['r1']);
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
    await advance(HOLD_MS);
    const next = pageOf();
    expect(await next.drain()).toEqual([]);
    expect(next.unknown).toEqual([]);
  });

  it('is unknown where its page was killed just before, having named it', async () => {
    const left = await leaveBehind();
    await left.outbox.prepare([left.find('r1')]);
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r2']);
    expect(page.unknown).toEqual(['r1']);
  });

  it('is not unknown where it was named, and something else was sent', async () => {
    const left = await leaveBehind();
    await left.outbox.prepare([left.find('r1')]);
    await left.outbox.prepare([left.find('r0')]);
    left.outbox.finish(left.begin('r0'));
    await advance(1_000);
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it.each([true, false])(
    'is not unknown where it was named, and its page left (%s) before it was sent',
    async (isGoing) => {
      const left = await leaveBehind();
      await left.outbox.prepare([left.find('r1')]);
      left.outbox.leave(isGoing);
      await advance(HOLD_MS);
      const page = pageOf();
      expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
      expect(page.unknown).toEqual([]);
    },
  );

  it('is not unknown where its request did not outlive the page', async () => {
    const left = await leaveBehind();
    left.begin('r1', false);
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('is sent again where the service removes repeats', async () => {
    const left = await leaveBehind();
    left.begin('r1');
    await advance(HOLD_MS);
    const page = pageOf({ resends: true });
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('is not unknown where it was named, and the write of the page that left is lost (WebKit)', async () => {
    const left = await leaveBehind();
    await left.outbox.prepare([left.find('r1')]);
    left.dropWrites();
    left.outbox.leave(true);
    await settle();
    expect((await readStored()).values[0]).toMatchObject({ flight: ['r1'] });
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('that was named is not unknown where its request did not outlive the page', async () => {
    const left = await leaveBehind();
    await left.outbox.prepare([left.find('r1')]);
    left.begin('r1', false);
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('is known again when it failed before the page died', async () => {
    const left = await leaveBehind();
    left.outbox.putBack(left.begin('r1'));
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });

  it('stays unknown where the claimer dies before it has read it', async () => {
    const count = PARCEL_RECORDS * WINDOW + 50;
    const last = `r${count - 1}`;
    const left = await leaveBehind(makeRecords(count));
    left.begin(last);
    await advance(HOLD_MS);
    const killed = pageOf();
    await killed.refill();
    await advance(HOLD_MS);
    const next = pageOf();
    const sent = await next.drain();
    expect(sent).toHaveLength(count - 1);
    expect(next.unknown).toEqual([last]);
  });

  it('is not unknown where nothing of it is stored any more', async () => {
    const left = await leaveBehind();
    left.outbox.finish(left.begin('r1'));
    await advance(HOLD_MS);
    const page = pageOf();
    await page.drain();
    expect(page.unknown).toEqual([]);
  });

  it('is not unknown while the page that came back still waits for its answer', async () => {
    const page = await leaveBehind();
    const entry = page.begin('r0');
    page.outbox.leave(true);
    page.outbox.comeBack();
    await page.refill();
    expect(page.unknown).toEqual([]);
    expect(page.waiting()).toEqual(['r1', 'r2']);
    page.outbox.finish(entry);
    expect(await page.drain()).toEqual(['r1', 'r2']);
    await advance(1_000);
    expect((await readStored()).ids).toEqual([]);
  });

  it('is sent again by the page that came back, when it fails there', async () => {
    const page = await leaveBehind();
    const entry = page.begin('r0');
    page.outbox.leave(true);
    page.outbox.comeBack();
    await page.refill();
    page.outbox.putBack(entry);
    expect((await page.drain()).sort()).toEqual(['r0', 'r1', 'r2']);
    expect(page.unknown).toEqual([]);
  });
});

describe('an exit note', () => {
  /** What stands on the shelf is all that the page leaves: WebKit keeps no write of a leaving page. */
  const leaveWithoutWriting = async (records = makeRecords(2)) => {
    const page = pageOf();
    await page.refill();
    closeConnection(9);
    page.add(...records);
    page.outbox.leave(true);
    const kept = new Map(world.shelf.values);
    await settle();
    vi.restoreAllMocks();
    kept.forEach((value, key) => world.shelf.values.set(key, value));
    return page;
  };

  it('brings back what was never stored', async () => {
    await leaveWithoutWriting();
    expect((await readStored()).keys).toEqual([]);
    expect(await pageOf().drain()).toEqual(['r0', 'r1']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('is absorbed by one of two pages', async () => {
    await leaveWithoutWriting();
    const sent = await Promise.all([pageOf().drain(), pageOf().drain()]);
    expect(sent.flat().sort()).toEqual(['r0', 'r1']);
  });

  it('changes nothing when it is read a second time', async () => {
    await leaveWithoutWriting();
    const kept = new Map(world.shelf.values);
    const first = pageOf();
    expect(await first.drain()).toEqual(['r0', 'r1']);
    await advance(1_000); // all of it is deleted
    kept.forEach((value, key) => world.shelf.values.set(key, value)); // as a killed browser leaves it
    first.outbox.seek();
    expect(await first.drain()).toEqual([]);
    kept.forEach((value, key) => world.shelf.values.set(key, value));
    expect(await pageOf().drain()).toEqual([]);
  });

  it('says what was in flight, where the database does not', async () => {
    const left = await leaveBehind();
    closeConnection(9);
    left.begin('r0');
    left.outbox.leave(true);
    await settle();
    vi.restoreAllMocks();
    const page = pageOf();
    expect(await page.drain()).toEqual(['r1', 'r2']);
    expect(page.unknown).toEqual(['r0']);
  });

  it('that stands beside the same in the outbox brings each record once', async () => {
    const left = await leaveBehind();
    left.add(makeRecord('last'));
    left.outbox.leave(true);
    const kept = new Map(world.shelf.values);
    await settle();
    kept.forEach((value, key) => world.shelf.values.set(key, value));
    expect(await pageOf().drain()).toEqual(['r0', 'r1', 'r2', 'last']);
    expect(await pageOf().drain()).toEqual([]);
  });

  it('read from memory brings each record once, though another page reads the same from the outbox', async () => {
    const left = await leaveBehind([]);
    left.add(makeRecord('last'));
    left.outbox.leave(true);
    const kept = new Map(world.shelf.values);
    await settle();
    kept.forEach((value, key) => world.shelf.values.set(key, value));
    const allow = forbidOpening();
    const inMemory = pageOf();
    const sent = await inMemory.drain();
    expect(inMemory.journal.kind()).toBe('memory');
    allow();
    sent.push(...(await pageOf().drain()));
    expect(sent).toEqual(['last']);
  });

  it('is not removed by an earlier write that ends after it was left', async () => {
    const page = pageOf();
    await page.refill();
    page.add(makeRecord('first'));
    for (let i = 0; i < 9; i++) await Promise.resolve(); // its write is on its way
    page.add(makeRecord('second'));
    abortTransactions(); // what a leaving page writes is lost in WebKit
    page.outbox.leave(true);
    await settle();
    expect((await readStored()).ids).toEqual(['first']);
    expect((await pageOf().drain()).sort()).toEqual(['first', 'second']);
  });

  it('of a living page without a database is left to that page', async () => {
    forbidOpening();
    const hidden = pageOf();
    hidden.add(makeRecord('news'));
    await settle();
    expect(hidden.journal.kind()).toBe('memory');
    hidden.hide();
    await advance(2 * HOLD_MS);
    const other = pageOf();
    const sent = await other.drain();
    expect(sent).toEqual([]);
    sent.push(...(await hidden.drain()));
    expect(sent).toEqual(['news']);
  });

  it('of a frozen page is not overwritten by that of its claimer', async () => {
    const frozen = await leaveBehind();
    await advance(HOLD_MS);
    const adopter = pageOf();
    await adopter.refill();
    frozen.add(makeRecord('news'));
    frozen.outbox.leave(true);
    await settle();
    adopter.outbox.leave(true);
    await settle();
    expect((await pageOf().drain()).sort()).toEqual(['news', 'r0', 'r1', 'r2']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('of a frozen page brings, while its claimer lives, what is stored nowhere', async () => {
    const frozen = await leaveBehind();
    frozen.dropWrites();
    frozen.add(...makeRecords(2, 'unsaved'));
    frozen.begin('unsaved1');
    await advance(HOLD_MS);
    const adopter = pageOf();
    await adopter.refill();
    frozen.outbox.leave(true);
    const third = pageOf();
    await third.refill();
    expect(third.waiting()).toEqual(['unsaved0']);
    expect(adopter.waiting()).toEqual(['r0', 'r1', 'r2']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('says what is done though its claimer died before it could', async () => {
    const left = await leaveBehind();
    left.outbox.finish(left.begin('r1'));
    left.dropWrites(); // WebKit loses what a leaving page writes
    left.outbox.leave(true);
    const adopter = pageOf();
    void adopter.refill();
    for (let i = 0; i < 30; i++) await Promise.resolve(); // its transaction has begun
    adopter.kill();
    await settle();
    await advance(HOLD_MS);
    expect(await pageOf().drain()).toEqual(['r0', 'r2']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('of a frozen page brings only what its claimer could not have', async () => {
    const frozen = await leaveBehind();
    await advance(HOLD_MS);
    const page = pageOf();
    const sent = await page.drain();
    frozen.add(makeRecord('news'));
    frozen.outbox.leave(true);
    await settle();
    page.outbox.seek();
    sent.push(...(await page.drain()));
    sent.push(...(await pageOf().drain()));
    expect(sent).toEqual(['r0', 'r1', 'r2', 'news']);
  });

  it.each([
    ['no object', '5'],
    ['null', 'null'],
    ['cut off', '{"v":2,"hol'],
    ['an empty object', '{}'],
    ['an array', '[]'],
    ['without its lists', '{"v":2,"holder":"b","until":0}'],
    ['with a hole in it', '{"v":2,"holder":"b","until":0,"parcels":[null]}'],
  ])('that is %s disturbs nothing', async (_, text) => {
    await leaveBehind();
    await advance(HOLD_MS);
    world.shelf.values.set(`${DATABASE} note a`, text);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.storage).toEqual(['indexeddb']);
  });

  it.each(['5', '{}', '{"v":2,"holder":"b","until":0}'])(
    'that is %s disturbs nothing without storage',
    async (text) => {
      forbidOpening();
      world.shelf.values.set(`${DATABASE} note a`, text);
      const page = pageOf();
      page.add(makeRecord('own'));
      await settle();
      expect(page.journal.kind()).toBe('memory');
      expect(await page.drain()).toEqual(['own']);
    },
  );
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
