import { expect, it } from 'vitest';
import type { ParkedRow, Step } from '../../../../src/server/store/parked.js';
import { event, identify, refusal, times, type Part } from './scenario.js';

const waiting = (place: number, more: Partial<ParkedRow> = {}): ParkedRow => ({
  ...{ place, tries: 0, since: 0, ...more },
});

/** What every store remembers of rows that are still to be sent to a target whose place has passed them. */
export const describeParked: Part = (name, enter) => {
  const open = async () => {
    const store = await enter().open();
    await store.write(times(8, () => event()));
    const { progress } = store;
    const { parked } = progress;
    const lock = (await progress.take('service', 'me'))!;
    const step = (parts: Partial<Step>) =>
      parked.step(lock, { park: [], unpark: [], next: [], ...parts });
    const due = async (now: number) =>
      (await parked.due('service', now, { limit: 10, isFresh: false })).map(({ place }) => place);
    return { store, progress, parked, lock, step, due };
  };

  it(`${name} moves the place of a target and parks rows in one step, in the process that has it`, async () => {
    const { progress, lock, step, due, parked } = await open();
    expect(await step({ place: 5, park: [waiting(2, { due: 10 }), waiting(4, { due: 20 })] })).toBe(
      true,
    );
    expect(await progress.targets()).toMatchObject([{ place: 5, parked: 2, owes: 2 }]);
    expect([await due(9), await due(15), await due(20)]).toEqual([[], [2], [2, 4]]);
    expect(await parked.nextDue('service', 10)).toBe(20);
    await step({ park: [waiting(4, { due: 30, tries: 1, since: 7 })], unpark: [2] });
    expect(await parked.due('service', 30, { limit: 10, isFresh: false })).toEqual([
      { place: 4, behind: null, tries: 1, since: 7 },
    ]);
    expect(await parked.due('service', 30, { limit: 10, isFresh: true })).toEqual([]);
    expect(await progress.targets()).toMatchObject([{ place: 5, parked: 1 }]);
    await progress.take('service', 'other', { force: true });
    expect(await parked.step(lock, { place: 9, park: [], unpark: [4], next: [] })).toBe(false);
    expect(await progress.targets()).toMatchObject([{ place: 5, parked: 1, owes: 4 }]);
    expect(await progress.forget('service')).toBe(true);
    expect(await due(100)).toEqual([]);
  });

  it(`${name} has one time for all rows with one key, that of the first`, async () => {
    const { parked, step, due } = await open();
    const next = (due: number, isNew = true) => [{ key: 'x', due, isNew }];
    await step({ park: [3, 2, 5].map((place) => waiting(place, { behind: 'x' })), next: next(10) });
    expect(await due(10)).toEqual([2]);
    expect((await parked.behind('service', 'x', 2)).map(({ place }) => place)).toEqual([2, 3]);
    await step({ park: [waiting(7, { behind: 'x' })], next: next(50, false) });
    expect(await due(10)).toEqual([2]);
    await step({ unpark: [2], next: next(30) });
    expect([await due(29), await due(30)]).toEqual([[], [3]]);
    await parked.tryNow('service');
    expect(await due(0)).toEqual([3]);
  });

  it(`${name} has rows wait for the identifies of their line`, async () => {
    const { parked, step, due } = await open();
    const line = JSON.stringify(['x', 'p', 'u"ü']);
    await step({ park: [waiting(2, { line, due: 10 })] });
    const rows = [
      { place: 1, line, isIdentify: true },
      { place: 3, line, isIdentify: false },
      { place: 4, line, isIdentify: true },
      { place: 5, line: 'other', isIdentify: true },
    ];
    const blocked = async (going: number[] = []) => [
      ...(await parked.blocked('service', rows, going)),
    ];
    expect(await blocked()).toEqual([3, 4]);
    expect(await blocked([2])).toEqual([]);
    const next = [{ key: line, due: 0, isNew: true }];
    await step({ park: [waiting(3, { behind: line }), waiting(4, { behind: line, line })], next });
    expect(await due(0)).toEqual([]);
    await step({ park: [waiting(2, { line, due: 10, tries: 3, since: 1 })], next });
    expect(await due(0)).toEqual([3]);
    expect(await blocked()).toEqual([4]);
    await step({ unpark: [3], next });
    expect(await due(0)).toEqual([]);
    await step({ unpark: [2], next });
    expect(await due(0)).toEqual([4]);
  });

  it(`${name} parks no row that is gone, and forgets those that go`, async () => {
    const { store, progress, parked, step } = await open();
    await store.write([event({ user_id: 'u' })]);
    await step({ park: [waiting(3, { due: 0 }), waiting(9, { due: 0 }), waiting(99, { due: 0 })] });
    expect(await progress.targets()).toMatchObject([{ parked: 2 }]);
    await store.erase({ project: 'p', user_id: 'u' });
    expect(await progress.targets()).toMatchObject([{ parked: 1, owes: 3 }]);
    expect(await parked.stored([1, 9, 3])).toEqual([1, 3]);
  });

  it(`${name} gives its rows back as records, with their senders`, async () => {
    const { store, parked } = await open();
    const one = { ...event({ event: 'Größe "1"' }), sender: 'word' };
    const two = identify({});
    await store.write([one, two]);
    const { client: _, ...expected } = { ...two, place: 10 };
    expect(await parked.recordsBehind(8, 10)).toEqual([
      expect.objectContaining({ id: one.id, text: one.text, sender: 'word', place: 9 }),
      expect.objectContaining(expected),
    ]);
    expect(await parked.recordsBehind(8, 1)).toHaveLength(1);
    expect(await parked.recordsAt([10, 55])).toMatchObject([{ place: 10, text: two.text }]);
  });

  it(`${name} makes one secret a day for all processes, and forgets it after seven days`, async () => {
    const world = enter();
    const [one, other] = [await world.open(), await world.open()];
    const secretOf = one.progress.secretOf;
    const first = await secretOf('2026-01-01');
    expect(first).toMatch(/^[\w-]{32}$/);
    expect(await other.progress.secretOf('2026-01-01')).toBe(first);
    expect(await secretOf('2026-01-08')).not.toBe(first);
    expect(await secretOf('2026-01-01')).toBe(first);
    await secretOf('2026-01-09');
    expect(await secretOf('2026-01-01')).not.toBe(first);
  });

  it(`${name} has what targets refuse in the list of the refused, from which it is sent again`, async () => {
    const { store, progress, lock, due } = await open();
    await store.refuse([refusal({ message: 'other' })]);
    const warehouse = (await progress.take('house/db', 'me'))!;
    expect(await progress.bury(lock, [{ place: 3, message: 'rejected 422' }])).toBe(0);
    await progress.bury(lock, [{ place: 3, message: 'rejected 400' }]);
    await progress.bury(warehouse, [{ place: 5, message: 'no such column' }]);
    const refused = await store.refused({ limit: 10 });
    expect(refused).toMatchObject([
      { message: 'other' },
      { target: 'service', reason: 'target', message: 'rejected 400', isDead: true, project: 'p' },
      { target: 'house/db', reason: 'target', message: 'no such column', isDead: true },
    ]);
    expect(await progress.dead('service', 0, 9)).toEqual([{ place: 3, message: 'rejected 400' }]);
    expect((await progress.targets()).map(({ dead }) => dead)).toEqual([1, 1]);
    const [, ofService, ofWarehouse] = refused.map(({ seq }) => seq);
    expect(await store.resend([ofService!, ofWarehouse!])).toEqual([
      { seq: ofService, outcome: 'stored' },
      { seq: ofWarehouse, outcome: 'dead', message: 'no such column' },
    ]);
    expect(await due(0)).toEqual([3]);
    expect(await progress.dead('service', 0, 9)).toEqual([]);
    expect(await store.purge([ofWarehouse!])).toBe(1);
    expect(await store.countRefused()).toBe(1);
  });

  it(`${name} keeps the newest of what a target refuses, and says how many had to go`, async () => {
    const { store, progress, lock } = await open();
    await store.write(times(200, () => event()));
    const all = times(150, (n) => ({ place: n + 1, message: 'no' }));
    expect(await progress.bury(lock, all)).toBe(50);
    expect(await progress.bury(lock, [{ place: 200, message: 'no' }])).toBe(1);
    const kept = await progress.dead('service', 0, 1_000);
    expect([kept.length, kept[0]!.place, kept.at(-1)!.place]).toEqual([100, 52, 200]);
    // A flood of refused requests pushes none of them out.
    await store.refuse(times(150, () => refusal()));
    expect(await progress.dead('service', 0, 1_000)).toHaveLength(100);
  });
};
