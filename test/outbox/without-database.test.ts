import { describe, expect, it, vi } from 'vitest';
import { LEASE_MS } from '../../src/outbox/lease.js';
import { advance } from '../support/advance.js';
import { abortTransactions, forbidOpening } from '../support/break-storage.js';
import { createPage, LIMITS } from '../support/create-page.js';
import { makeRecord, makeRecords } from '../support/make-record.js';
import { settle } from '../support/settle.js';
import { storageEach } from '../support/storage-each.js';

const world = storageEach();

const withoutDatabase = async () => {
  forbidOpening();
  const page = createPage(world.shelf);
  await page.refill();
  return page;
};

/** The exit notes on the shelf, as far as it matters who may take them and when. */
const readNotes = () =>
  [...world.shelf.values.values()].map((value) => {
    const { until, unsaved } = JSON.parse(value) as { until: number; unsaved: unknown[][] };
    return { until, noted: unsaved.length };
  });

describe('a page without a database that was hidden', () => {
  /** Its records stand in an exit note, which is good for the length of a lease. */
  const hidden = async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(2));
    page.outbox.leave(false);
    await settle();
    expect(readNotes()).toEqual([{ until: Date.now() + LEASE_MS, noted: 2 }]);
    return { page, hold: page.find('r0').hold };
  };

  it('renews its note before it is taken', async () => {
    const { page, hold } = await hidden();
    vi.setSystemTime(Date.now() + LEASE_MS - LIMITS.timeout);
    expect(page.outbox.canSend(page.find('r0'))).toBe(false);
    await page.outbox.renew(hold);
    expect(page.outbox.canSend(page.find('r0'))).toBe(true);
    expect(readNotes()).toEqual([{ until: Date.now() + LEASE_MS, noted: 2 }]);
    expect(await page.drain()).toEqual(['r0', 'r1']);
  });

  it('keeps its note to what still waits', async () => {
    const { page } = await hidden();
    page.outbox.finish(page.begin('r0'));
    await advance(100);
    expect(readNotes()).toEqual([{ until: Date.now() - 100 + LEASE_MS, noted: 1 }]);
  });

  it('forgets what another page has taken meanwhile, when it wants to send it', async () => {
    const { page, hold } = await hidden();
    vi.setSystemTime(Date.now() + LEASE_MS);
    const other = await withoutDatabase();
    await other.refill();
    page.add(makeRecord('since'));
    await page.outbox.renew(hold);
    expect(hold.lost).toBe(true);
    expect(await page.drain()).toEqual(['since']);
    expect(await other.drain()).toEqual(['r0', 'r1']);
  });

  it('gives back, when it is cleared, what nobody has taken', async () => {
    const { page } = await hidden();
    vi.setSystemTime(Date.now() + LEASE_MS);
    expect(page.outbox.clear().map(({ id }) => id)).toEqual(['r0', 'r1']);
  });

  it('gives back, when it is cleared, nothing that another page has taken', async () => {
    const { page } = await hidden();
    vi.setSystemTime(Date.now() + LEASE_MS);
    const other = await withoutDatabase();
    await other.refill();
    expect(page.outbox.clear()).toEqual([]);
    expect(await other.drain()).toEqual(['r0', 'r1']);
  });

  it('takes its note along where all of it was sent before it goes', async () => {
    const { page } = await hidden();
    for (const id of ['r0', 'r1']) page.outbox.finish(page.begin(id));
    page.outbox.leave(true);
    expect(readNotes()).toEqual([]);
  });

  it('gives nothing away again, when it goes, that another page has taken', async () => {
    const { page } = await hidden();
    vi.setSystemTime(Date.now() + LEASE_MS);
    const other = await withoutDatabase();
    expect(await other.drain()).toEqual(['r0', 'r1']);
    page.outbox.leave(true);
    other.outbox.leave(true);
    expect(await (await withoutDatabase()).drain()).toEqual([]);
  });
});

describe('a page that loses its database with records in it', () => {
  /** Stored are r0 and r1; since then storage has failed. */
  const stuck = async () => {
    const page = createPage(world.shelf);
    page.add(...makeRecords(2));
    await settle();
    abortTransactions();
    page.add(makeRecord('new'));
    await settle();
    expect(page.journal.kind()).toBe('memory');
    return page;
  };

  it('goes on under another owner as its lease ends, with what was not stored', async () => {
    const page = await stuck();
    const { hold } = page.find('r0');
    page.outbox.leave(false); // a note, too
    vi.setSystemTime(Date.now() + LEASE_MS - LIMITS.timeout);
    await page.outbox.renew(hold);
    expect(hold.lost).toBe(true);
    expect(page.waiting()).toEqual(['new']);
    expect(page.outbox.canSend(page.find('new'))).toBe(true);
    page.kill();
    vi.setSystemTime(Date.now() + 2 * LEASE_MS);
    expect((await createPage(world.shelf).drain()).sort()).toEqual(['new', 'r0', 'r1']);
  });

  it('brings nothing twice where it is left after that', async () => {
    const page = await stuck();
    page.outbox.leave(false);
    vi.setSystemTime(Date.now() + LEASE_MS - LIMITS.timeout);
    await page.outbox.renew(page.find('r0').hold);
    page.outbox.finish(page.begin('new'));
    page.outbox.leave(true);
    await settle();
    page.kill();
    vi.setSystemTime(Date.now() + 2 * LEASE_MS);
    expect((await createPage(world.shelf).drain()).sort()).toEqual(['r0', 'r1']);
  });
});
