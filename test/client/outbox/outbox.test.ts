import { describe, expect, it, vi } from 'vitest';
import { wipe } from '../../../src/client/outbox/denial.js';
import { HOLD_MS } from '../../../src/client/outbox/context.js';
import { advance } from '../../support/advance.js';
import { abortTransactions, forbidOpening } from '../../support/break-storage.js';
import { createPage, LIMITS, type Page } from '../../support/create-page.js';
import { makeRecord, makeRecords } from '../../support/make-record.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { readStored } from '../../support/stored.js';

const world = storageEach();

type Limits = Parameters<typeof createPage>[1];

/** One contract, whatever the records are kept in. */
describe.each([
  ['indexeddb', (): void => undefined],
  ['memory', forbidOpening],
] as const)('the outbox on %s', (kind, prepare) => {
  const pageOf = async (limits: Limits = {}): Promise<Page> => {
    prepare();
    const page = createPage(world.shelf, limits);
    await page.refill();
    expect(page.journal.kind()).toBe(kind);
    return page;
  };

  it('keeps records in the order of the calls', async () => {
    const page = await pageOf();
    page.add(...makeRecords(3));
    expect(page.waiting()).toEqual(['r0', 'r1', 'r2']);
    await settle();
    expect(page.waiting()).toEqual(['r0', 'r1', 'r2']);
  });

  it('lets a new record be sent before it is stored', async () => {
    const page = await pageOf();
    page.add(makeRecord('a'));
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
  });

  it('waits for no database where there is none', async () => {
    const page = await pageOf();
    page.add(makeRecord('a'));
    const prepared = page.outbox.prepare([page.find('a')]);
    expect(prepared === undefined).toBe(kind === 'memory');
    await prepared;
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
  });

  it('forgets what is finished', async () => {
    const page = await pageOf();
    page.add(...makeRecords(3));
    await settle();
    page.outbox.finish(page.begin('r1'));
    expect(page.waiting()).toEqual(['r0', 'r2']);
    await advance(1_000);
    expect(await page.drain()).toEqual(['r0', 'r2']);
  });

  it('takes back what failed, in its old place', async () => {
    const page = await pageOf();
    page.add(...makeRecords(3));
    const entry = page.begin('r0');
    expect(page.waiting()).toEqual(['r1', 'r2']);
    page.outbox.putBack(entry);
    expect(page.waiting()).toEqual(['r0', 'r1', 'r2']);
    expect(entry.record.attempts).toBe(1);
  });

  it('counts what waits without what is under way', async () => {
    const page = await pageOf();
    page.add(...makeRecords(3));
    page.begin('r0');
    page.begin('r1', false);
    expect(page.outbox.waiting()).toBe(1);
  });

  it('tells why it drops', async () => {
    const page = await pageOf();
    page.add(makeRecord('a'));
    page.outbox.drop(page.find('a'), 'rejected', 'no');
    expect(page.drops).toEqual([{ id: 'a', reason: 'rejected' }]);
    expect(page.waiting()).toEqual([]);
  });

  it('finishes twice without harm', async () => {
    const page = await pageOf();
    page.add(...makeRecords(2));
    const entry = page.begin('r0');
    page.outbox.finish(entry);
    page.outbox.finish(entry);
    await advance(1_000);
    expect(page.waiting()).toEqual(['r1']);
    expect(page.outbox.count()).toBe(1);
  });

  it('drops a record that has passed its maxAge', async () => {
    const page = await pageOf();
    page.add(makeRecord('a', { at: Date.now() - LIMITS.maxAge }), makeRecord('b'));
    expect([...page.outbox.young()]).toHaveLength(2);
    vi.setSystemTime(Date.now() + 1);
    expect([...page.outbox.young()]).toHaveLength(1);
    expect(page.drops).toEqual([{ id: 'a', reason: 'expired' }]);
    expect(page.waiting()).toEqual(['b']);
  });

  it('keeps to maxRecords: the oldest events go, identifies last', async () => {
    const page = await pageOf({ maxRecords: 3 });
    page.add(makeRecord('who', { type: 'identify', user: 'u' }), ...makeRecords(4));
    expect(page.waiting()).toEqual(['who', 'r2', 'r3']);
    expect(page.drops.map(({ id }) => id)).toEqual(['r0', 'r1']);
    page.add(...['x', 'y', 'z'].map((id) => makeRecord(id, { type: 'identify', user: 'u' })));
    expect(page.waiting()).toEqual(['x', 'y', 'z']);
    expect(page.drops.map(({ id }) => id)).toEqual(['r0', 'r1', 'r2', 'r3', 'who']);
    expect(new Set(page.drops.map(({ reason }) => reason))).toEqual(new Set(['outbox-full']));
    await advance(1_000);
    expect(await page.drain()).toEqual(['x', 'y', 'z']);
  });

  it('keeps to maxBytes', async () => {
    const page = await pageOf({ maxBytes: 1_000 });
    page.add(...makeRecords(4, 'r', { bytes: 300 }));
    expect(page.waiting()).toEqual(['r1', 'r2', 'r3']);
    page.add(makeRecord('big', { bytes: 900 }));
    expect(page.waiting()).toEqual(['big']);
  });

  it('does not drop what is in flight to keep to the caps', async () => {
    const page = await pageOf({ maxRecords: 2 });
    page.add(...makeRecords(2));
    page.begin('r0');
    page.add(makeRecord('r2'));
    expect(page.drops.map(({ id }) => id)).toEqual(['r1']);
    expect(page.waiting()).toEqual(['r2']);
  });

  it('gives room back when records are finished', async () => {
    const page = await pageOf({ maxRecords: 2, maxBytes: 1_000 });
    for (let i = 0; i < 20; i++) {
      page.add(makeRecord(`r${i}`, { bytes: 600 }));
      page.outbox.finish(page.begin(`r${i}`));
    }
    expect(page.drops).toEqual([]);
  });

  it('keeps to its caps after records came to their end while it was left', async () => {
    const page = await pageOf({ maxRecords: 2 });
    page.add(...makeRecords(2));
    const entries = [page.begin('r0'), page.begin('r1')];
    page.outbox.leave(true);
    for (const entry of entries) page.outbox.finish(entry);
    page.outbox.comeBack();
    await page.drain();
    page.add(...makeRecords(3, 'new'));
    expect(page.drops).toEqual([{ id: 'new0', reason: 'outbox-full' }]);
  });

  it('drops a record that alone is over the caps', async () => {
    const page = await pageOf({ maxBytes: 100 });
    page.add(makeRecord('fits', { bytes: 100 }));
    page.outbox.finish(page.begin('fits'));
    page.add(makeRecord('big', { bytes: 101 }));
    expect(page.waiting()).toEqual([]);
    expect(page.drops).toEqual([{ id: 'big', reason: 'outbox-full' }]);
  });

  it('gives back what was waiting when it is cleared, and forgets it', async () => {
    const page = await pageOf();
    page.add(...makeRecords(3));
    await settle();
    expect(page.outbox.clear().map(({ id }) => id)).toEqual(['r0', 'r1', 'r2']);
    expect(await wipe(page, false)).toBe(kind === 'indexeddb');
    await advance(1_000);
    expect(page.waiting()).toEqual([]);
    expect(world.shelf.keys()).toEqual([]);
    await advance(2 * HOLD_MS);
    expect(await (await pageOf()).drain()).toEqual([]);
  });

  it('leaves to the next page what was waiting', async () => {
    const page = await pageOf();
    page.add(...makeRecords(3));
    page.begin('r1');
    page.outbox.leave(true);
    await settle();
    const next = await pageOf();
    expect(await next.drain()).toEqual(['r0', 'r2']);
    expect(next.unknown).toEqual(['r1']);
  });

  it('leaves no note where nothing waits', async () => {
    const page = await pageOf();
    page.add(makeRecord('a'));
    await settle();
    page.outbox.finish(page.begin('a'));
    await advance(1_000);
    page.outbox.leave(true);
    expect(world.shelf.keys()).toEqual([]);
    await settle();
    expect(world.shelf.keys()).toEqual([]);
  });

  it('may be left many times', async () => {
    const page = await pageOf();
    page.add(...makeRecords(2));
    page.outbox.leave(false);
    page.outbox.leave(false);
    await settle();
    page.outbox.leave(true);
    page.outbox.leave(true);
    await settle();
    expect(await (await pageOf()).drain()).toEqual(['r0', 'r1']);
  });

  it.each([
    ['', (): void => undefined],
    [', having been hidden in between', (page: Page): void => page.outbox.leave(false)],
  ])('leaves what it records after it was left, when it is left again%s', async (_, hide) => {
    const page = await pageOf();
    page.dropWrites(); // WebKit loses what a leaving page writes
    page.add(...makeRecords(2));
    page.outbox.leave(true);
    page.add(makeRecord('later'));
    hide(page);
    page.outbox.leave(true);
    page.kill();
    await settle();
    expect((await (await pageOf()).drain()).sort()).toEqual(['later', 'r0', 'r1']);
  });

  it('leaves nothing as unknown where repeats are known', async () => {
    const page = await pageOf({ resends: true });
    page.add(...makeRecords(2));
    page.begin('r1');
    page.outbox.leave(true);
    await settle();
    const next = await pageOf(); // of another version of the site
    expect(await next.drain()).toEqual(['r0', 'r1']);
    expect(next.unknown).toEqual([]);
  });

  it('goes on where the page was merely hidden', async () => {
    const page = await pageOf();
    page.add(...makeRecords(2));
    const entry = page.begin('r0');
    page.outbox.leave(false);
    await settle();
    expect(await (await pageOf()).drain()).toEqual([]);
    page.outbox.finish(entry);
    expect(await page.drain()).toEqual(['r1']);
    await advance(2 * HOLD_MS);
    const next = await pageOf();
    expect(await next.drain()).toEqual([]);
    expect(next.unknown).toEqual([]);
  });

  it('goes on where the page left and came back', async () => {
    const page = await pageOf();
    page.add(...makeRecords(2));
    page.outbox.leave(true);
    page.add(makeRecord('meanwhile'));
    await settle();
    page.outbox.comeBack();
    expect((await page.drain()).sort()).toEqual(['meanwhile', 'r0', 'r1']);
    expect(await (await pageOf()).drain()).toEqual([]);
  });

  it('does not count as unknown what it delivers after it came back', async () => {
    const page = await pageOf();
    page.add(makeRecord('a'));
    const entry = page.begin('a');
    page.outbox.leave(true);
    await settle();
    page.outbox.comeBack();
    await page.refill();
    page.outbox.finish(entry);
    await advance(1_000);
    expect(page.unknown).toEqual([]);
    expect(await (await pageOf()).drain()).toEqual([]);
  });

  it('does not count as unknown what it delivers while it is left', async () => {
    const page = await pageOf();
    page.add(makeRecord('a'));
    const entry = page.begin('a');
    page.outbox.leave(true);
    await settle();
    page.outbox.finish(entry);
    page.outbox.comeBack();
    expect(await page.drain()).toEqual([]);
    await advance(1_000);
    expect(page.unknown).toEqual([]);
    expect(await (await pageOf()).drain()).toEqual([]);
  });

  it('sends nothing again that it delivered after it had said that it goes, and stayed', async () => {
    const page = await pageOf();
    page.add(...makeRecords(2));
    page.outbox.leave(false);
    page.outbox.comeBack();
    await settle();
    expect(await page.drain()).toEqual(['r0', 'r1']);
    await advance(2 * 3_600_000);
    expect(await (await pageOf()).drain()).toEqual([]);
    expect(world.shelf.keys()).toEqual([]);
  });

  it('starts anew where a frozen page finds its records taken: each is sent once', async () => {
    if (kind === 'memory') return; // its note is left alone while it lives
    const frozen = await pageOf();
    frozen.add(...makeRecords(2));
    frozen.outbox.leave(false);
    await settle();
    await advance(HOLD_MS + 1_000);
    const other = await pageOf();
    const sent = await other.drain();
    expect(sent).toEqual(['r0', 'r1']);
    frozen.add(makeRecord('news'));
    sent.push(...(await frozen.drain()));
    expect(sent).toEqual(['r0', 'r1', 'news']);
  });

  it('gives nothing away that was delivered since it was hidden', async () => {
    const page = await pageOf();
    page.add(makeRecord('a'));
    page.outbox.leave(false);
    await settle();
    page.outbox.finish(page.begin('a'));
    page.outbox.leave(true);
    await settle();
    page.kill();
    await advance(2 * HOLD_MS);
    expect(await (await pageOf()).drain()).toEqual([]);
  });

  it('gives nothing away a second time where others took it while the page was frozen', async () => {
    const frozen = await pageOf();
    frozen.add(...makeRecords(2));
    frozen.outbox.leave(false);
    await settle();
    await advance(HOLD_MS + 1_000);
    const other = await pageOf();
    const sent = await other.drain();
    frozen.outbox.leave(true);
    await settle();
    sent.push(...(await (await pageOf()).drain()));
    expect(sent).toEqual(['r0', 'r1']);
  });
});

describe('a frozen page whose time is over', () => {
  const freeze = async (ids: string[]) => {
    const frozen = createPage(world.shelf);
    frozen.add(...ids.map((id) => makeRecord(id)));
    await settle();
    await advance(HOLD_MS);
    const other = createPage(world.shelf);
    expect(await other.drain()).toEqual(ids);
    return { frozen, other };
  };

  it('may not send what it had', async () => {
    const { frozen } = await freeze(['a', 'b']);
    expect(frozen.waiting()).toEqual(['a', 'b']);
    expect(frozen.outbox.canSend(frozen.find('a'))).toBe(false);
  });

  it('lets go of its copies, and keeps what it made since', async () => {
    const { frozen } = await freeze(['a']);
    frozen.add(makeRecord('b'));
    frozen.outbox.tidy();
    expect(frozen.waiting()).toEqual(['b']);
    expect(frozen.drops).toEqual([]);
    await advance(1_000);
    expect((await readStored()).ids).toEqual(['b']);
    expect(await frozen.drain()).toEqual(['b']);
  });

  it('gives back, when it is cleared, only what no other can have', async () => {
    const { frozen } = await freeze(['a', 'b']);
    frozen.add(makeRecord('c'));
    expect(frozen.outbox.clear().map(({ id }) => id)).toEqual(['c']);
  });

  it('that is hidden then lets go, and keeps what it makes then', async () => {
    const { frozen, other } = await freeze(['a']);
    frozen.outbox.leave(false);
    frozen.add(makeRecord('b'));
    await advance(1_000);
    expect(await frozen.drain()).toEqual(['b']);
    expect(await other.drain()).toEqual([]);
  });

  it('only counts an answer that comes then: its claimer has counted the record as unknown', async () => {
    const frozen = createPage(world.shelf);
    frozen.add(makeRecord('a'));
    await settle();
    const entry = frozen.begin('a');
    await advance(HOLD_MS);
    const other = createPage(world.shelf);
    expect(await other.drain()).toEqual([]);
    expect(other.unknown).toEqual(['a']);
    frozen.add(makeRecord('b'));
    frozen.outbox.tidy();
    frozen.outbox.putBack(entry);
    expect(await frozen.drain()).toEqual(['b']);
    expect(frozen.unknown).toEqual([]);
  });

  it('goes on where nobody took its records', async () => {
    const frozen = createPage(world.shelf);
    frozen.add(...makeRecords(2));
    await settle();
    await advance(10 * HOLD_MS);
    frozen.outbox.look();
    expect(await frozen.drain()).toEqual(['r0', 'r1']);
    await advance(2 * HOLD_MS);
    expect(await createPage(world.shelf).drain()).toEqual([]);
  });

  it('sends what it had named as in flight, and had not sent yet', async () => {
    const frozen = createPage(world.shelf);
    frozen.add(...makeRecords(2));
    await settle();
    await frozen.outbox.prepare([frozen.find('r1')]);
    await advance(2 * HOLD_MS);
    frozen.outbox.look();
    expect(await frozen.drain()).toEqual(['r0', 'r1']);
    expect(frozen.unknown).toEqual([]);
  });

  it('holds what it could not write before it froze', async () => {
    const frozen = createPage(world.shelf);
    await frozen.refill();
    frozen.freeze();
    frozen.add(makeRecord('a'));
    await advance(2 * HOLD_MS);
    frozen.thaw();
    await settle();
    expect(await createPage(world.shelf).drain()).toEqual([]);
    expect(await frozen.drain()).toEqual(['a']);
  });
});

describe('what waits for long', () => {
  it('is known to have ended, though another page held it meanwhile', async () => {
    const page = createPage(world.shelf);
    page.add(...makeRecords(2));
    await settle();
    const sent = page.begin('r0', false);
    vi.setSystemTime(Date.now() + HOLD_MS);
    page.outbox.tidy();
    const other = createPage(world.shelf);
    await other.refill();
    await page.refill();
    expect(page.outbox.elsewhere()).toBe(2);
    page.outbox.finish(sent);
    other.kill();
    await advance(HOLD_MS);
    page.outbox.look();
    expect(await page.drain()).toEqual(['r1']);
  });

  it('is let go, counted, and claimed again', async () => {
    const page = createPage(world.shelf);
    page.add(...makeRecords(3));
    await settle();
    await advance(HOLD_MS);
    page.outbox.tidy();
    expect(page.waiting()).toEqual([]);
    expect(page.outbox.waiting()).toBe(3);
    expect(await page.drain()).toEqual(['r0', 'r1', 'r2']);
    expect(page.outbox.waiting()).toBe(0);
  });

  it('makes room as the caps say: the oldest events go, though they were let go', async () => {
    const page = createPage(world.shelf, { maxRecords: 4 });
    page.add(makeRecord('who', { type: 'identify', user: 'u' }), ...makeRecords(3));
    await settle();
    await advance(HOLD_MS);
    page.outbox.tidy();
    page.add(...makeRecords(2, 'new'));
    await advance(1_000);
    expect(page.drops).toEqual(['r0', 'r1'].map((id) => ({ id, reason: 'outbox-full' })));
    expect((await page.drain()).sort()).toEqual(['new0', 'new1', 'r2', 'who']);
  });

  it('makes room as maxBytes says, and no more than that', async () => {
    const page = createPage(world.shelf, { maxBytes: 1_000 });
    page.add(...makeRecords(3, 'r', { bytes: 300 }));
    await settle();
    await advance(HOLD_MS);
    page.outbox.tidy();
    page.add(makeRecord('new', { bytes: 300 }));
    await settle();
    expect(page.drops).toEqual([{ id: 'r0', reason: 'outbox-full' }]);
    expect((await page.drain()).sort()).toEqual(['new', 'r1', 'r2']);
  });

  it('makes no more room once storage may not be used', async () => {
    const dead = createPage(world.shelf);
    for (const record of makeRecords(40, 'dead')) {
      dead.add(record);
      await settle();
    }
    dead.kill();
    await advance(HOLD_MS);
    const page = createPage(world.shelf, { maxRecords: 50 });
    await page.outbox.refill(false);
    page.add(...makeRecords(10));
    await settle();
    const { journal } = page;
    const { run } = journal;
    let runs = 0;
    // A page that tried for ever would be stuck in this very task.
    journal.run = (work) => (++runs > 100 ? new Promise(() => undefined) : run(work));
    page.add(makeRecord('last'));
    page.outbox.leave(true);
    journal.closeAfterWrites();
    await settle();
    expect(runs).toBeLessThan(10);
  });

  it('makes room though many older ones are in memory', async () => {
    const dead = createPage(world.shelf);
    dead.add(...makeRecords(30, 'dead'));
    await settle();
    dead.kill();
    await advance(HOLD_MS / 2);
    const page = createPage(world.shelf, { maxRecords: 45 });
    page.add(...makeRecords(15));
    await advance(HOLD_MS / 2);
    await page.refill();
    expect(page.waiting()).toHaveLength(45);
    await advance(HOLD_MS / 2);
    page.outbox.tidy();
    expect(page.waiting()).toHaveLength(30);
    page.add(makeRecord('new'));
    await settle();
    expect(page.drops).toEqual([{ id: 'dead0', reason: 'outbox-full' }]);
  });

  it('is left where it is while there is room', async () => {
    const page = createPage(world.shelf);
    page.add(...makeRecords(3));
    await settle();
    await advance(HOLD_MS);
    page.outbox.tidy();
    await page.refill();
    await advance(HOLD_MS);
    page.outbox.tidy();
    const reads = vi.spyOn(IDBObjectStore.prototype, 'getAll');
    page.add(makeRecord('new'));
    await settle();
    expect(reads).not.toHaveBeenCalled();
  });

  it('counts towards the caps though the database fails as it is claimed to make room', async () => {
    const page = createPage(world.shelf, { maxRecords: 4 });
    page.add(...makeRecords(3));
    await settle();
    await advance(HOLD_MS);
    page.outbox.tidy();
    abortTransactions(2);
    page.add(...makeRecords(3, 'new'));
    await settle();
    expect(page.journal.kind()).toBe('memory');
    expect(page.drops).toEqual(['new0', 'new1'].map((id) => ({ id, reason: 'outbox-full' })));
  });

  it('counts towards the caps though the database fails: the oldest in memory goes then', async () => {
    const page = createPage(world.shelf, { maxRecords: 4 });
    page.add(...makeRecords(3));
    await settle();
    await advance(HOLD_MS);
    page.outbox.tidy();
    abortTransactions();
    page.add(makeRecord('new0'));
    await settle();
    expect(page.journal.kind()).toBe('memory');
    page.add(makeRecord('new1'));
    await settle();
    expect(page.drops).toEqual([{ id: 'new0', reason: 'outbox-full' }]);
    expect(page.outbox.waiting()).toBe(4);
  });

  it('is held for longer as it is about to be sent', async () => {
    const page = createPage(world.shelf, { resends: true });
    page.add(makeRecord('a'));
    await settle();
    vi.setSystemTime(Date.now() + HOLD_MS - LIMITS.timeout);
    expect(page.outbox.canSend(page.find('a'))).toBe(false);
    await page.outbox.prepare([page.find('a')]);
    expect(page.outbox.canSend(page.find('a'))).toBe(true);
    await advance(HOLD_MS - 1_000);
    expect(await createPage(world.shelf, { resends: true }).drain()).toEqual([]);
  });
});

describe('what a dead page left', () => {
  const leaveBehind = async () => {
    const dead = createPage(world.shelf);
    dead.add(...makeRecords(2));
    await settle();
    dead.kill();
    await advance(HOLD_MS);
  };

  it('is found by a page that looks again', async () => {
    const page = createPage(world.shelf);
    await page.refill();
    await leaveBehind();
    expect(await page.drain()).toEqual([]);
    page.outbox.look();
    expect(await page.drain()).toEqual(['r0', 'r1']);
  });

  it('is found as soon as storage works again', async () => {
    await leaveBehind();
    const page = createPage(world.shelf);
    abortTransactions();
    page.add(makeRecord('own'));
    await settle();
    expect(page.journal.kind()).toBe('memory');
    expect(await page.drain()).toEqual(['own']);
    await advance(6_000);
    expect(page.journal.kind()).toBe('indexeddb');
    expect(await page.drain()).toEqual(['r0', 'r1']);
  });
});
