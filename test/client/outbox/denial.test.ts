import { describe, expect, it } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { forgetDenial, getDenial, wipe } from '../../../src/client/outbox/denial.js';
import { advance } from '../../support/advance.js';
import { forbidOpening } from '../../support/break-storage.js';
import type { Page } from '../../support/create-page.js';
import { makeRecord } from '../../support/make-record.js';
import { pagesIn } from '../../support/pages-in.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { putStored, readStored } from '../../support/stored.js';

const world = storageEach();
const { pageOf, leaveBehind } = pagesIn(world);

const isDenied = ({ journal }: Page): Promise<boolean> =>
  journal.run((store, done: (isDenied: boolean) => void) => getDenial(store, done));

describe('a denial in the database', () => {
  it('is there once all was wiped for it, and for nothing else', async () => {
    const page = pageOf();
    expect(await isDenied(page)).toBe(false);
    expect(await wipe(page, false)).toBe(true);
    expect(await isDenied(page)).toBe(false);
    expect(await wipe(page, true)).toBe(true);
    expect(await isDenied(page)).toBe(true);
  });

  it('is gone once consent was given, and nothing else is', async () => {
    const page = await leaveBehind();
    await putStored([['consent', 'denied']]);
    expect(await isDenied(page)).toBe(true);
    expect(await forgetDenial(page.journal)).toBe(true);
    expect(await isDenied(page)).toBe(false);
    expect((await readStored()).ids).toEqual(['r0', 'r1', 'r2']);
  });

  it('is no unreadable record', async () => {
    await leaveBehind();
    await putStored([['consent', 'denied']]);
    await advance(HOLD_MS);
    const page = pageOf();
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    await advance(1_000);
    expect(page.drops).toEqual([]);
    expect((await readStored()).keys).toEqual(['consent']);
  });

  it('is not given, nor taken back, by a database that fails', async () => {
    forbidOpening();
    const page = pageOf();
    await page.refill();
    expect(await wipe(page, true)).toBe(false);
    expect(await forgetDenial(page.journal)).toBe(false);
  });
});

it('all that is stored and noted, by other pages too, is wiped', async () => {
  await leaveBehind();
  const left = pageOf();
  left.dropWrites();
  left.add(makeRecord('noted'));
  left.outbox.leave(true);
  await settle();
  expect(world.shelf.keys()).toHaveLength(1);
  expect(await wipe(pageOf(), false)).toBe(true);
  expect((await readStored()).keys).toEqual([]);
  expect(world.shelf.keys()).toEqual([]);
});
