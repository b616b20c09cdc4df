import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { join } from 'node:path';
import { createFill, RowRefusedError } from '../../../src/server/exports/batches.js';
import { startExport } from '../../../src/server/exports/export.js';
import type { Target } from '../../../src/server/exports/target.js';
import { verify } from '../../../src/server/exports/verify.js';
import { createTell } from '../../../src/server/hooks.js';
import type { Store } from '../../../src/server/store/port.js';
import type { Erasure } from '../../../src/server/store/progress.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import { incomingEvents } from '../support/incoming.js';

vi.mock('../../../src/server/store/lock-ms.js', () => ({ LOCK_MS: 600 }));

/** A target in memory that takes rows in batches, and what a test does to it. */
const createTarget = ({ isBad = () => false }: { isBad?: (place: number) => boolean } = {}) => {
  const rows: number[] = [];
  const state = {
    rows,
    ids: new Map<number, string>(),
    failure: undefined as string | undefined,
    erased: [] as (readonly Erasure[])[],
    inserts: 0,
  };
  const target: Target = {
    name: 'house/db',
    wait: { ms: 0, rows: 10 },
    prepare: async () => {
      if (state.failure) throw new Error(state.failure);
    },
    last: async () => {
      const place = Math.max(0, ...rows);
      const first = Math.min(...rows);
      return place ? { place, first, id: state.ids.get(place)! } : undefined;
    },
    fill: createFill({
      ...{ maxRows: 10, maxCharacters: 10_000 },
      lineOf: ({ id }) => id,
      insert: async (lines) => {
        state.inserts++;
        if (state.failure) throw new Error(state.failure);
        if (lines.some(({ place }) => isBad(place))) throw new RowRefusedError('no such text');
        for (const { place, text } of lines) {
          rows.push(place);
          state.ids.set(place, text);
        }
      },
    }),
    erase: async (_, erasures) => {
      state.erased.push(erasures);
      return undefined;
    },
    sumPlaces: async (_, { from, to, block }) => {
      const sums = new Map<number, { rows: number; places: number }>();
      for (const place of rows.filter((one) => one >= from && one < to)) {
        const first = Math.floor(place / block) * block;
        const sum = sums.get(first) ?? { rows: 0, places: 0 };
        sums.set(first, { rows: sum.rows + 1, places: sum.places + place });
      }
      return sums;
    },
    places: async (_, { from, to }) => rows.filter((one) => one >= from && one < to),
  };
  return { target, state };
};

let path: string;
beforeEach(() => {
  path = join(tempFolder(), 'rows.db');
});
const openStore = (): Store => {
  const store = createLibsqlStore({ path });
  onTestFinished(() => store.close());
  return store;
};
const run = (store: Store, target: Target) => {
  const errors: string[] = [];
  const stop = startExport({
    ...{ store, target },
    tell: createTell({
      onError: ({ kind, message }) => void errors.push(`${kind}: ${message}`),
      onRecovery: ({ kind }) => void errors.push(`${kind} over`),
    }),
  });
  onTestFinished(stop);
  return { stop, errors };
};
const places = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);
const placeOf = async ({ progress }: Store) => (await progress.targets())[0]?.place;

it('writes all rows in their order, and the new ones as they come', async () => {
  const store = openStore();
  const { target, state } = createTarget();
  await store.write(incomingEvents(0, 35));
  run(store, target);
  await vi.waitFor(() => expect(state.rows).toEqual(places(1, 35)));
  await store.write(incomingEvents(35, 40));
  await vi.waitFor(() => expect(state.rows).toEqual(places(1, 40)));
  await vi.waitFor(async () => expect(await placeOf(store)).toBe(40));
});

it('waits while the target is away, tells it once, and then goes on', async () => {
  const store = openStore();
  const { target, state } = createTarget();
  await store.write(incomingEvents(0, 5));
  const { errors } = run(store, target);
  await vi.waitFor(() => expect(state.rows).toHaveLength(5));
  state.failure = 'it is away';
  await store.write(incomingEvents(5, 9));
  await vi.waitFor(() => expect(errors).toEqual(['export: house/db: it is away']));
  await vi.waitFor(async () => {
    expect((await store.progress.targets())[0]).toMatchObject({ place: 5, message: 'it is away' });
  });
  await vi.waitFor(() => expect(state.inserts).toBeGreaterThan(1));
  state.failure = undefined;
  await vi.waitFor(() => expect(state.rows).toEqual(places(1, 9)));
  await vi.waitFor(async () => {
    expect((await store.progress.targets())[0]).not.toHaveProperty('message');
  });
  expect(errors).toEqual(['export: house/db: it is away', 'export over']);
});

it('keeps bad rows, and writes the others in their order', async () => {
  const store = openStore();
  const { target, state } = createTarget({ isBad: (place) => [3, 4, 20].includes(place) });
  await store.write(incomingEvents(0, 25));
  run(store, target);
  const good = places(1, 25).filter((place) => ![3, 4, 20].includes(place));
  await vi.waitFor(() => expect(state.rows).toEqual(good));
  expect(await store.progress.dead('house/db', 0, 10)).toEqual(
    [3, 4, 20].map((place) => ({ place, message: 'no such text' })),
  );
});

it('goes on past any number of bad rows, as long as there are good ones between them', async () => {
  const store = openStore();
  const { target, state } = createTarget({ isBad: (place) => place % 3 > 0 });
  await store.write(incomingEvents(0, 60));
  run(store, target);
  const good = places(1, 60).filter((place) => place % 3 === 0);
  await vi.waitFor(() => expect(state.rows).toEqual(good));
});

it.each([
  ['all', 5],
  ['the first', 3],
])(
  'says once that %s of its rows are gone from the target, and with which command they come back',
  async (_, gone) => {
    const store = openStore();
    const { target, state } = createTarget();
    await store.write(incomingEvents(0, 5));
    const first = run(store, target);
    await vi.waitFor(async () => expect(await placeOf(store)).toBe(5));
    await first.stop();
    state.rows.splice(0, gone);
    const { errors } = run(store, target);
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    expect(errors[0]).toMatch(
      /^dropped: house\/db lacks rows .*from place 1 on.*`analytics-outbox export verify`/,
    );
    await store.write(incomingEvents(5, 7));
    await vi.waitFor(async () => expect(await placeOf(store)).toBe(7));
    expect(state.rows.slice(-2)).toEqual([6, 7]);
    expect(await verify({ store, target })).toMatchObject({ filled: gone, exported: 7 });
    await store.write(incomingEvents(7, 8)); // by the process that takes the target again
    await vi.waitFor(() => expect(state.rows).toContain(8));
    expect(errors).toHaveLength(1);
    expect(first.errors).toEqual([]);
  },
);

it('stands still before a target that refuses every row', async () => {
  const store = openStore();
  let isBad = true;
  const { target, state } = createTarget({ isBad: () => isBad });
  await store.write(incomingEvents(0, 25));
  const { errors } = run(store, target);
  await vi.waitFor(() => expect(errors.join()).toContain('it refuses every row'));
  expect(await store.progress.dead('house/db', 0, 100)).toHaveLength(10);
  isBad = false;
  await vi.waitFor(() => expect(state.rows).toEqual(places(11, 25)));
  await vi.waitFor(async () => expect(await placeOf(store)).toBe(25));
  const found = await verify({ store, target });
  expect(found).toMatchObject({ stored: 25, exported: 25, filled: 10, dead: 0 });
  expect(await store.progress.dead('house/db', 0, 100)).toEqual([]);
});

it('is done by one of two processes, and by the other one when that ends', async () => {
  const [one, other] = [openStore(), openStore()];
  const { target, state } = createTarget();
  const { stop } = run(one, target);
  run(other, target);
  await one.write(incomingEvents(0, 50));
  await vi.waitFor(() => expect(state.rows).toEqual(places(1, 50)));
  await stop();
  await one.write(incomingEvents(50, 60));
  await vi.waitFor(() => expect(state.rows).toEqual(places(1, 60)));
});

it('stands still if the target has rows of a store that was set back', async () => {
  const store = openStore();
  const { target, state } = createTarget();
  await store.write(incomingEvents(0, 5));
  state.rows.push(4);
  state.ids.set(4, 'another');
  const { errors } = run(store, target);
  await vi.waitFor(() => expect(errors.join()).toMatch(/up to place 4 .*set back/));
  expect(state.rows).toEqual([4]);
  // Neither a row of that place nor a later one makes it forget.
  await store.erase({ project: 'p' }, 5);
  await store.write(incomingEvents(5, 9));
  await vi.waitFor(async () => {
    expect((await store.progress.targets())[0]!.message).toContain('set back');
  });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(state.rows).toEqual([4]);
});

it('passes erasures on when all rows before them are written', async () => {
  const store = openStore();
  const { target, state } = createTarget();
  await store.write(incomingEvents(0, 5));
  const erasure: Erasure = { place: 6, upto: 6, project: 'p', user_id: 'u' };
  const erasures: Store['progress']['erasures'] = async (after) => (after < 6 ? [erasure] : []);
  run({ ...store, progress: { ...store.progress, erasures } }, target);
  await vi.waitFor(() => expect(state.erased).toEqual([[erasure]]));
  await vi.waitFor(async () => {
    expect((await store.progress.targets())[0]).toMatchObject({ erased: 6 });
  });
});

it('is compared with the store: what lacks is written, what is there twice is told', async () => {
  const store = openStore();
  const { target, state } = createTarget({ isBad: (place) => place === 12 });
  await store.write(incomingEvents(0, 30));
  const { stop } = run(store, target);
  await vi.waitFor(async () => expect(await placeOf(store)).toBe(30));
  await stop();
  // Two are lost and two are there twice, so that the numbers of rows are the same.
  state.rows.splice(state.rows.indexOf(7), 2);
  state.rows.push(20, 21);
  await store.erase({ project: 'p', user_id: 'nobody' });
  expect(await verify({ store, target })).toEqual({
    ...{ from: 1, to: 31, stored: 30, exported: 29, filled: 2, missing: 0, dead: 1, gone: 0 },
    twice: [{ from: 1, rows: 2 }],
    ...{ waiting: 0, problem: undefined, isHeld: false },
  });
  expect(state.rows.slice(-2)).toEqual([7, 8]);
});
