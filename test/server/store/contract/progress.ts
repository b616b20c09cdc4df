import { expect, it } from 'vitest';
import type { TargetLock } from '../../../../src/server/store/progress.js';
import { patient } from '../../support/patient.js';
import { at, event, times, type Part } from './scenario.js';

/** What every store remembers of exports and notifications. */
export const describeProgress: Part = (name, enter) => {
  const open = async () => {
    const store = await enter().open();
    await store.write(times(8, () => event()));
    return store.progress;
  };

  it(`${name} gives a target to one process at a time`, async () => {
    const world = enter();
    const one = (await world.open()).progress;
    const other = (await world.open()).progress;
    const lock = (await one.take('house/db', 'a', { from: 5 }))!;
    expect(lock).toEqual({ target: 'house/db', number: 1, place: 5, erased: 5, ms: 30_000 });
    expect(await other.take('house/db', 'b')).toBeUndefined();
    expect(await one.keep(lock, { place: 9 })).toBe(true);
    await one.release(lock);
    const taken = (await other.take('house/db', 'b'))!;
    expect(taken).toEqual({ ...lock, number: 2, place: 9 });
    expect(await one.keep(lock, { place: 2 })).toBe(false);
    expect(await other.keep(taken)).toBe(true);
    expect((await other.targets())[0]).toMatchObject({ place: 9 });
  });

  it(`${name} takes a target from the process that has it by force, or for another place`, async () => {
    const progress = await open();
    const lock = (await progress.take('house/db', 'a'))!;
    const taken = (await progress.take('house/db', 'b', { force: true }))!;
    expect(taken.number).toBe(lock.number + 1);
    expect(await progress.keep(lock)).toBe(false);
    await progress.bury(
      taken,
      [2, 8].map((place) => ({ place, message: 'no' })),
    );
    expect(await progress.moveTo('house/db', 5)).toBe(true);
    expect(await progress.keep(taken, { place: 9 })).toBe(false);
    expect(await progress.targets()).toMatchObject([{ place: 5, dead: 1, isHeld: false }]);
    expect(await progress.moveTo('other', 5)).toBe(false);
  });

  it(`${name} counts and lists places`, async () => {
    const store = await enter().open();
    await store.write(Array.from({ length: 25 }, () => event()));
    const span = { from: 3, to: 24 };
    expect(await store.progress.sumPlaces({ ...span, block: 10 })).toEqual(
      new Map([
        [0, { rows: 7, places: 42 }],
        [10, { rows: 10, places: 145 }],
        [20, { rows: 4, places: 86 }],
      ]),
    );
    expect(await store.progress.places(span)).toEqual(Array.from({ length: 21 }, (_, n) => 3 + n));
  });

  it(`${name} remembers why a target takes nothing until it does`, async () => {
    const progress = await open();
    const lock = (await progress.take('house/db', 'a'))!;
    const target = async () => (await progress.targets())[0];
    expect(await target()).toEqual({
      name: 'house/db',
      place: 0,
      erased: 0,
      dead: 0,
      parked: 0,
      isHeld: true,
    });
    await progress.keep(lock, { message: 'it is away' });
    await progress.keep(lock, { erased: 3 });
    expect(await target()).toMatchObject({ message: 'it is away', erased: 3 });
    await progress.keep(lock, { message: null });
    expect(await target()).not.toHaveProperty('message');
  });

  it(`${name} keeps the places of rows that a target refuses`, async () => {
    const progress = await open();
    const lock = (await progress.take('house/db', 'a'))!;
    await progress.bury(lock, [
      { place: 4, message: 'no' },
      { place: 8, message: 'no' },
    ]);
    await progress.bury(lock, [{ place: 8, message: 'never' }]);
    expect(await progress.dead('house/db', 4, 10)).toEqual([{ place: 8, message: 'never' }]);
    expect((await progress.targets())[0]!.dead).toBe(2);
    await progress.unbury('house/db', [8]);
    expect(await progress.dead('house/db', 0, 10)).toEqual([{ place: 4, message: 'no' }]);
  });

  it(`${name} forgets why a target refuses a row when the row is erased or expires`, async () => {
    const store = patient(await enter().open());
    const { progress } = store;
    await store.write([
      event({ user_id: 'u' }, { receivedAt: at(3) }),
      event({}, { receivedAt: at(1) }),
      event({}, { receivedAt: at(3) }),
    ]);
    const lock = (await progress.take('house/db', 'a'))!;
    const [erased, expired, kept] = [1, 2, 3].map((place) => ({ place, message: 'no such "u"' }));
    await progress.bury(lock, [erased!, expired!, kept!]);
    await store.erase({ project: 'p', user_id: 'u' });
    expect(await progress.dead('house/db', 0, 10)).toEqual([expired, kept]);
    await store.expire(at(2), 10);
    expect(await progress.dead('house/db', 0, 10)).toEqual([kept]);
    // The target may refuse a row that was read before it was erased.
    await progress.bury(lock, [erased!]);
    expect(await progress.dead('house/db', 0, 10)).toEqual([kept]);
  });

  it(`${name} forgets a target with all that it knows of it`, async () => {
    const progress = await open();
    const lock = (await progress.take('chat', 'a'))!;
    await progress.bury(lock, [{ place: 4, message: 'no' }]);
    await progress.keep(lock, { memo: 'told' });
    expect(await progress.forget('chat')).toBe(true);
    expect(await progress.forget('chat')).toBe(false);
    expect(await progress.keep(lock)).toBe(false);
    expect(await progress.targets()).toEqual([]);
    expect(await progress.dead('chat', 0, 10)).toEqual([]);
    expect(await progress.take('chat', 'a')).not.toHaveProperty('memo');
  });

  it(`${name} remembers what a notifier writes down, if the process still has the target`, async () => {
    const progress = await open();
    const lock = (await progress.take('chat', 'a'))!;
    expect(lock).not.toHaveProperty('memo');
    expect(await progress.keep(lock, { place: 3, memo: 'told' })).toBe(true);
    await progress.keep(lock, { place: 4 });
    const late: TargetLock = { ...lock, number: 0 };
    expect(await progress.keep(late, { place: 9, memo: 'lost' })).toBe(false);
    expect(await progress.take('chat', 'a')).toMatchObject({ place: 4, memo: 'told' });
  });

  it(`${name} has a name of its own, which the content does not change`, async () => {
    const store = await enter().open();
    const source = await store.progress.source();
    expect(source).toEqual({ id: expect.stringMatching(/^[\w-]{21}$/), since: 0, former: [] });
    await store.write([event()]);
    await store.erase({ project: 'p' });
    expect(await store.progress.source()).toEqual(source);
    const renamed = await store.progress.newSource(7);
    const again = await store.progress.newSource(9);
    expect(await store.progress.source()).toEqual({
      ...{ id: again, since: 9, former: [renamed, source.id] },
    });
  });
};
