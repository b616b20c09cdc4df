import { describe, expect, it, vi } from 'vitest';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import type { OutboxRecord } from '../../../src/client/types.js';
import type { ExitNote } from '../../../src/client/outbox/exit-note.js';
import { advance } from '../../support/advance.js';
import { abortTransactions, closeConnection, forbidOpening } from '../../support/break-storage.js';
import { createPage } from '../../support/create-page.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';

const world = storageEach();

const withoutDatabase = async (limits = {}) => {
  forbidOpening();
  const page = createPage(world.shelf, limits);
  await page.refill();
  return page;
};

const readNotes = () =>
  [...world.shelf.values.values()].map((value) => JSON.parse(value) as ExitNote);
const notedIds = () =>
  readNotes().flatMap(({ parcels }) =>
    parcels.flatMap(({ records }) => records.map(({ id }) => id)),
  );

describe('a page without a database', () => {
  it('writes no note while it is shown', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(100));
    await advance(1_000);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('notes what waits while it is hidden, and keeps the note true', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(3));
    page.hide();
    expect(notedIds()).toEqual(['r0', 'r1', 'r2']);
    page.outbox.finish(page.begin('r0'));
    await advance(200);
    expect(notedIds()).toEqual(['r1', 'r2']);
    page.show();
    page.outbox.finish(page.begin('r1'));
    await advance(200);
    expect(readNotes()).toEqual([]);
  });

  it('takes its note along where all of it was sent before it goes', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(2));
    page.hide();
    for (const id of ['r0', 'r1']) page.outbox.finish(page.begin(id));
    page.outbox.leave(true);
    expect(readNotes()).toEqual([]);
  });

  it('takes nothing from its own note, though the clock was set back and the note ends too late', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(2));
    page.hide();
    vi.setSystemTime(Date.now() - 3_600_000);
    page.outbox.seek();
    await page.refill();
    expect(page.waiting()).toEqual(['r0', 'r1']);
    expect(notedIds()).toEqual(['r0', 'r1']);
  });

  it('leaves to the next one what fits: identifies first, then the newest, the rest dropped', async () => {
    const page = await withoutDatabase();
    page.add(makeRecord('who', { type: 'identify', user: 'u', bytes: 50_000 }));
    page.add(...makeRecords(10, 'r', { bytes: 50_000 }));
    page.outbox.leave(true);
    const kept = ['who', 'r6', 'r7', 'r8', 'r9'];
    expect(notedIds()).toEqual(kept);
    expect(page.drops.map(({ reason }) => reason)).toEqual(Array(6).fill('outbox-full'));
    expect(await (await withoutDatabase()).drain()).toEqual(kept);
  });

  it('notes no parcel of which its note takes nothing, so that the next one takes the note away', async () => {
    const page = await withoutDatabase();
    for (const record of makeRecords(10, 'r', { bytes: 50_000 })) {
      page.add(record);
      await settle(); // each in a parcel of its own
    }
    page.outbox.leave(true);
    const kept = notedIds();
    expect(kept.length).toBeLessThan(10);
    expect(readNotes()[0]!.parcels).toHaveLength(kept.length);
    const next = await withoutDatabase();
    for (const id of kept) next.outbox.finish(next.begin(id));
    next.outbox.leave(true);
    expect(readNotes()).toEqual([]);
  });

  it('notes while it is hidden no more than a note has room for', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(10, 'r', { bytes: 50_000 }));
    page.hide();
    expect(notedIds()).toHaveLength(5);
  });

  it('halves its note until localStorage takes it', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(10, 'r', { bytes: 10_000 }));
    const { set } = world.shelf;
    world.shelf.set = (key, value) => (value?.length ?? 0) < 40_000 && set(key, value);
    page.outbox.leave(true);
    expect(notedIds()).toEqual(['r7', 'r8', 'r9']);
    expect(page.drops).toHaveLength(7);
  });

  it('keeps in memory what nothing else takes, and goes on when it is back', async () => {
    const page = await withoutDatabase();
    world.shelf.blocked = true;
    page.add(...makeRecords(2));
    page.outbox.leave(true);
    page.outbox.comeBack();
    expect(await page.drain()).toEqual(['r0', 'r1']);
  });

  it.each([
    [false, ['r0'], ['r1']],
    [true, [], ['r0', 'r1']],
  ])(
    'counts what may have arrived as its receiver has it (resends: %s)',
    async (resends, unknown, sent) => {
      const page = await withoutDatabase({ resends });
      world.shelf.blocked = true;
      page.add(...makeRecords(2));
      page.outbox.abandon(page.begin('r0'));
      page.outbox.leave(true);
      page.outbox.comeBack();
      expect(page.unknown).toEqual(unknown);
      expect((await page.drain()).sort()).toEqual(sent);
    },
  );

  it('keeps what was in flight as it left, where that fails after its return', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(2));
    const [failing, passing] = [page.begin('r0'), page.begin('r1')];
    page.outbox.leave(true);
    page.outbox.comeBack();
    await page.refill();
    page.outbox.putBack(failing);
    page.outbox.finish(passing);
    expect(page.unknown).toEqual([]);
    expect(await page.drain()).toEqual(['r0']);
  });

  it('leaves what it records after another has taken its note', async () => {
    const page = await withoutDatabase();
    page.add(makeRecord('a'));
    page.outbox.leave(true);
    expect(await (await withoutDatabase()).drain()).toEqual(['a']);
    page.add(makeRecord('later'));
    page.outbox.leave(true);
    expect(await (await withoutDatabase()).drain()).toEqual(['later']);
  });

  it('keeps what is in its note for an hour at the most, and until it is gone', async () => {
    const page = await withoutDatabase();
    page.add(makeRecord('a'));
    page.hide();
    expect(await (await withoutDatabase()).drain()).toEqual([]);
    page.kill();
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await (await withoutDatabase()).drain()).toEqual(['a']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('does not drop what is in flight where its note has no room for it', async () => {
    const page = await withoutDatabase();
    page.add(...makeRecords(10, 'r', { bytes: 50_000 }));
    page.begin('r0');
    page.outbox.leave(true);
    expect(page.drops.map(({ id }) => id)).toEqual(['r1', 'r2', 'r3', 'r4']);
  });

  it('leaves to those who have one what stands in a database', async () => {
    const stored = createPage(world.shelf);
    stored.add(...makeRecords(2));
    await settle();
    stored.outbox.leave(true);
    const writes = vi.spyOn(world.shelf, 'set');
    const page = await withoutDatabase();
    expect(await page.drain()).toEqual([]);
    expect(writes).not.toHaveBeenCalled();
  });
});

describe('a page that loses its database with records in it', () => {
  const loseDatabase = async (stored: OutboxRecord[], ...more: OutboxRecord[]) => {
    const page = createPage(world.shelf);
    page.add(...stored);
    await settle();
    abortTransactions();
    page.add(...more);
    await settle();
    expect(page.journal.kind()).toBe('memory');
    return page;
  };

  it('goes on with what was not stored, and leaves the rest as its time is over', async () => {
    const page = await loseDatabase(makeRecords(2), makeRecord('new'));
    page.kill();
    await advance(2 * HOLD_MS);
    expect((await createPage(world.shelf).drain()).sort()).toEqual(['r0', 'r1']);
  });

  it('notes what is in flight, though it is killed a moment later', async () => {
    const page = await loseDatabase(makeRecords(2), makeRecord('new'));
    page.begin('r1');
    await advance(100);
    page.kill();
    vi.setSystemTime(Date.now() + HOLD_MS);
    const next = createPage(world.shelf);
    expect(await next.drain()).toEqual(['r0']);
    expect(next.unknown).toEqual(['r1']);
  });

  it('drops nothing that is stored as it goes', async () => {
    const page = await loseDatabase(makeRecords(2), makeRecord('new'));
    page.outbox.leave(true);
    expect(page.drops).toEqual([]);
    page.kill();
    await advance(HOLD_MS);
    expect((await createPage(world.shelf).drain()).sort()).toEqual(['new', 'r0', 'r1']);
  });

  it('notes what is stored nowhere, however much is stored', async () => {
    const page = await loseDatabase(
      [makeRecord('who', { type: 'identify', user: 'u', bytes: 200_000 })],
      makeRecord('new', { bytes: 100_000 }),
    );
    page.outbox.leave(true);
    expect(notedIds()).toEqual(['new']);
    expect(page.drops).toEqual([]);
  });

  it('leaves what it never stored to a page without a database, and the rest to one with', async () => {
    const page = await loseDatabase(makeRecords(2), makeRecord('new'));
    page.begin('r1');
    page.hide();
    page.kill();
    vi.setSystemTime(Date.now() + 2 * 3_600_000);
    const allow = forbidOpening();
    const without = createPage(world.shelf);
    expect(await without.drain()).toEqual(['new']);
    expect(without.unknown).toEqual([]);
    allow();
    const next = createPage(world.shelf);
    expect(await next.drain()).toEqual(['r0']);
    expect(next.unknown).toEqual(['r1']);
    expect(world.shelf.keys()).toEqual([]);
  });

  it.each([true, false])(
    'notes what was delivered of parcels that it let go meanwhile (leaves: %s)',
    async (isGoing) => {
      const page = createPage(world.shelf);
      page.add(...makeRecords(2, 'old'));
      await advance(HOLD_MS / 2);
      page.add(...makeRecords(2));
      await settle();
      closeConnection(99);
      page.outbox.finish(page.begin('old0', false));
      await advance(HOLD_MS / 2);
      page.outbox.tidy();
      expect(page.waiting()).toEqual(['r0', 'r1']);
      page.outbox.finish(page.begin('r0', false));
      if (isGoing) page.outbox.leave(true);
      else await advance(1_000);
      page.kill();
      vi.restoreAllMocks();
      vi.setSystemTime(Date.now() + 2 * HOLD_MS);
      const next = createPage(world.shelf);
      expect(await next.drain()).toEqual(['old1', 'r1']);
      expect(next.unknown).toEqual([]);
    },
  );
});

it('a page with a database leaves no note of what it has let go', async () => {
  const page = createPage(world.shelf);
  page.add(...makeRecords(2));
  await settle();
  page.outbox.finish(page.begin('r0', false));
  vi.setSystemTime(Date.now() + HOLD_MS);
  page.outbox.tidy();
  page.outbox.leave(true);
  expect(world.shelf.keys()).toEqual([]);
});

it('a page that loses its database notes nothing of what others have taken and finished', async () => {
  const page = createPage(world.shelf);
  page.add(...makeRecords(2));
  await settle();
  const sent = page.begin('r0');
  await settle();
  vi.setSystemTime(Date.now() + HOLD_MS);
  page.outbox.tidy();
  page.outbox.finish(sent); // its answer comes once the parcel was let go
  const other = createPage(world.shelf);
  expect(await other.drain()).toEqual(['r1']);
  await advance(100);
  page.outbox.look();
  await page.refill();
  closeConnection(99);
  page.add(makeRecord('new'));
  await settle();
  page.hide();
  expect(page.notes.all().flatMap(({ parcels }) => parcels)).toMatchObject([
    { records: [{ id: 'new' }] },
  ]);
});
