import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { advance } from '../../support/advance.js';
import { abortTransactions, closeConnection, forbidOpening } from '../../support/break-storage.js';
import { DATABASE } from '../../support/create-page.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { pagesIn } from '../../support/pages-in.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { putStored, readStored } from '../../support/stored.js';

const world = storageEach();
const { pageOf, leaveBehind } = pagesIn(world);

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

  it('changes nothing when it is read again after another page has ended what came out of it', async () => {
    await leaveWithoutWriting();
    const kept = new Map(world.shelf.values);
    const first = pageOf();
    await first.refill();
    first.outbox.finish(first.begin('r0'));
    await advance(1_000); // written without it
    first.kill();
    await advance(HOLD_MS);
    expect(await pageOf().drain()).toEqual(['r1']);
    await advance(1_000);
    kept.forEach((value, key) => world.shelf.values.set(key, value));
    expect(await pageOf().drain()).toEqual([]);
  });

  it('hides nothing that another version has stored under the same key', async () => {
    const left = await leaveBehind();
    left.outbox.leave(true);
    const { keys, values } = await readStored();
    await putStored([[keys[0]!, { ...values[0], v: 3 }]]);
    const page = pageOf();
    expect(await page.drain()).toEqual([]);
    expect(page.drops.map(({ reason }) => reason)).toEqual(['unreadable']);
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

  it.each(['a page that lives on', 'a page that left'])(
    'says nothing of what %s has stored since',
    async (whose) => {
      const page = await leaveBehind();
      const [key] = (await readStored()).keys;
      await advance(1_000);
      page.hide();
      const until = Date.now() + HOLD_MS;
      const noted = { key: key!, flight: [], done: [], records: [] };
      page.notes.save({ holder: page.name, until, parcels: [noted] });
      const kept = new Map(world.shelf.values);
      await advance(1_000);
      page.begin('r0');
      if (whose === 'a page that left') page.outbox.leave(true);
      await settle();
      page.kill();
      kept.forEach((value, name) => world.shelf.values.set(name, value)); // as Firefox may leave it
      await advance(HOLD_MS);
      const next = pageOf();
      expect(await next.drain()).toEqual(['r1', 'r2']);
      expect(next.unknown).toEqual(['r0']);
    },
  );

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
    const left = await leaveBehind([makeRecord('first')]);
    expect(await left.drain()).toEqual(['first']);
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
    const claimer = pageOf();
    await claimer.refill();
    frozen.add(makeRecord('news'));
    frozen.outbox.leave(true);
    await settle();
    claimer.outbox.leave(true);
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
    const claimer = pageOf();
    await claimer.refill();
    frozen.outbox.leave(true);
    const third = pageOf();
    await third.refill();
    expect(third.waiting()).toEqual(['unsaved0']);
    expect(claimer.waiting()).toEqual(['r0', 'r1', 'r2']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('says what is done though its claimer died before it could', async () => {
    const left = await leaveBehind();
    left.outbox.finish(left.begin('r1'));
    left.dropWrites(); // WebKit loses what a leaving page writes
    left.outbox.leave(true);
    const claimer = pageOf();
    void claimer.refill();
    for (let i = 0; i < 30; i++) await Promise.resolve(); // its transaction has begun
    claimer.kill();
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
