import { describe, expect, it } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { PARCEL_RECORDS } from '../../../src/client/outbox/parcel.js';
import { WINDOW } from '../../../src/client/outbox/stored.js';
import { advance } from '../../support/advance.js';
import { makeRecords } from '../../support/make-record.js';
import { pagesIn } from '../../support/pages-in.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { readStored } from '../../support/stored.js';

const world = storageEach();
const { pageOf, leaveBehind } = pagesIn(world);

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

  it('does not expire while the page that came back still waits for its answer', async () => {
    const page = pageOf({ maxAge: 1_000 });
    page.add(...makeRecords(1));
    await settle();
    const entry = page.begin('r0');
    await advance(2_000);
    page.outbox.leave(true);
    await settle();
    page.outbox.comeBack();
    await page.refill();
    expect(page.drops).toEqual([]);
    page.outbox.finish(entry);
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
