import { describe, expect, it, vi } from 'vitest';
import { NOTES_ROOM } from '../../src/outbox/exit-note.js';
import { LEASE_MS } from '../../src/outbox/lease.js';
import { advance } from '../support/advance.js';
import { abortTransactions, forbidOpening } from '../support/break-storage.js';
import { createPage, LIMITS } from '../support/create-page.js';
import { makeIdentify, makeRecord, makeRecords } from '../support/make-record.js';
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

describe('a page without a database, with more than a note may hold', () => {
  const unsavedIn = (text: string): string[] =>
    (JSON.parse(text) as { unsaved: [number, { id: string }][] }).unsaved.map(([, { id }]) => id);
  const noted = () => [...world.shelf.values.values()].flatMap(unsavedIn);

  const full = async () => {
    const page = await withoutDatabase();
    page.add(makeIdentify('who'), ...makeRecords(100, 'r', { bytes: 10_000 }));
    return page;
  };
  /** The newest, and the identify. */
  const chosen = [
    'who',
    ...makeRecords(100)
      .slice(-25)
      .map(({ id }) => id),
  ];

  it('notes identifies and the newest events as it is hidden, and keeps all', async () => {
    const page = await full();
    page.outbox.leave(false);
    expect(noted()).toEqual(chosen);
    const [[key, text]] = [...world.shelf.values] as [[string, string]];
    expect(key.length + text.length).toBeLessThanOrEqual(NOTES_ROOM);
    expect(page.waiting()).toHaveLength(101);
    expect(page.drops).toEqual([]);
  });

  it('tells what it drops as it is left', async () => {
    const page = await full();
    page.outbox.leave(true);
    page.outbox.dropRest();
    expect(noted()).toEqual(chosen);
    expect(page.waiting()).toEqual([]);
    expect(page.drops.map(({ id }) => id)).toEqual(makeRecords(75).map(({ id }) => id));
    expect(new Set(page.drops.map(({ reason }) => reason))).toEqual(new Set(['outbox-full']));
    expect((await (await withoutDatabase()).drain()).toSorted()).toEqual(chosen.toSorted());
  });

  it('notes what fits where the site has left less room', async () => {
    const page = await full();
    const { set } = world.shelf;
    world.shelf.set = (key, value) => (value?.length ?? 0) < 100_000 && set(key, value);
    page.outbox.leave(true);
    page.outbox.dropRest();
    expect(noted()).toEqual(['who', 'r95', 'r96', 'r97', 'r98', 'r99'].slice(0, noted().length));
    expect(noted().length + page.drops.length).toBe(101);
  });

  it('takes over a full note, and notes it anew', async () => {
    (await full()).outbox.leave(true);
    const other = await withoutDatabase();
    await other.refill();
    expect(other.waiting()).toHaveLength(chosen.length);
    expect(noted().toSorted()).toEqual(chosen.toSorted());
  });

  it('writes a large note anew about once a second', async () => {
    const page = await full();
    page.outbox.leave(false);
    await advance(2_000);
    const saved = vi.spyOn(world.shelf, 'set');
    for (const id of ['r99', 'r98', 'r97']) {
      page.outbox.finish(page.begin(id));
      await advance(200);
    }
    expect(saved.mock.calls.length).toBe(0);
    await advance(1_000);
    expect(saved.mock.calls.length).toBe(1);
    expect(noted()).not.toContain('r99');
  });
});
