import { describe, expect, it } from 'vitest';
import { abortTransactions, forbidOpening } from '../support/break-storage.js';
import { createPage } from '../support/create-page.js';
import { makeRecord, makeRecords } from '../support/make-record.js';
import { settle } from '../support/settle.js';
import { storageEach } from '../support/storage-each.js';
import { readStored } from '../support/stored.js';

const world = storageEach();

/** A page whose records nothing keeps: neither database nor `localStorage` works. */
const unkept = async (resends = false) => {
  forbidOpening();
  const page = createPage(world.shelf, { resends });
  await page.refill();
  world.shelf.blocked = true;
  return page;
};

describe('a page that is back, and could give to nobody what it had', () => {
  it('counts as unknown what may be with the service, and sends the rest again', async () => {
    const page = await unkept();
    page.add(...makeRecords(4));
    page.outbox.abandon(page.begin('r0'));
    page.outbox.abandon(page.begin('r1', false));
    const answered = page.begin('r2'); // its answer may come yet
    page.outbox.leave(true);
    page.outbox.comeBack();
    expect(page.unknown).toEqual(['r0']);
    expect(page.waiting()).toEqual(['r1', 'r3']);
    page.outbox.finish(answered);
    expect(await page.drain()).toEqual(['r1', 'r3']);
  });

  it('sends all of it again where the service knows repeats', async () => {
    const page = await unkept(true);
    page.add(...makeRecords(2));
    page.outbox.abandon(page.begin('r0'));
    page.outbox.leave(true);
    page.outbox.comeBack();
    expect(page.unknown).toEqual([]);
    expect(await page.drain()).toEqual(['r0', 'r1']);
  });
});

describe('a request that fails after its page has been left', () => {
  const leaveInFlight = async (isStored: boolean, resends: boolean) => {
    const page = createPage(world.shelf, { resends });
    await page.refill();
    world.shelf.blocked = true;
    if (!isStored) abortTransactions();
    page.add(makeRecord('a'));
    const entry = page.begin('a');
    page.outbox.leave(true);
    await settle();
    page.outbox.comeBack();
    return { page, entry };
  };

  it.each([
    ['stored, and not answered', true, false, [], []],
    ['stored, and answered', true, true, ['a'], []],
    ['not stored, and not answered', false, false, [], ['a']],
    ['not stored, and answered', false, true, ['a'], []],
  ] as const)('is %s', async (_, isStored, isAnswered, waiting, unknown) => {
    const { page, entry } = await leaveInFlight(isStored, false);
    page.outbox.putBack(entry, isAnswered);
    expect(page.waiting()).toEqual(waiting);
    expect(page.unknown).toEqual(unknown);
  });

  it.each([
    ['left to whoever reads it', true, []],
    ['sent again from here', false, ['a']],
  ] as const)('is %s where the service knows repeats', async (_, isStored, waiting) => {
    const { page, entry } = await leaveInFlight(isStored, true);
    page.outbox.putBack(entry, false);
    expect(page.waiting()).toEqual(waiting);
    expect(page.unknown).toEqual([]);
  });
});

describe('the note of a page that was left', () => {
  it('stands though what it says is stored: in WebKit, that may come to nothing', async () => {
    const page = createPage(world.shelf);
    await page.refill();
    page.add(makeRecord('a'));
    page.outbox.leave(true);
    await settle();
    expect((await readStored()).ids).toEqual(['a']);
    expect(world.shelf.keys()).toHaveLength(1);
    expect(await createPage(world.shelf).drain()).toEqual(['a']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('says what was answered since', async () => {
    const page = createPage(world.shelf);
    page.add(...makeRecords(2));
    await settle();
    const entry = page.begin('r0');
    page.outbox.leave(true);
    await settle();
    page.dropWrites();
    page.outbox.finish(entry);
    const next = createPage(world.shelf);
    expect(await next.drain()).toEqual(['r1']);
    expect(next.unknown).toEqual([]);
  });
});
