import { expect, it, onTestFinished } from 'vitest';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { copyStore } from '../../../src/server/store/copy-store.js';
import type { Store } from '../../../src/server/store/port.js';
import {
  ALL,
  at,
  event,
  identify,
  refusal,
  refusedOf,
  rowsOf,
  times,
  withoutSeq,
} from './contract/scenario.js';
import { caughtUp } from '../support/patient.js';

const open = (): Store => {
  const store = createLibsqlStore({ path: ':memory:' });
  onTestFinished(() => store.close());
  return store;
};

/** Two pages of rows, two of profiles, and some that are only half there. */
const openFull = async (): Promise<Store> => {
  const store = open();
  const events = times(1_100, (n) =>
    event(
      { tags: { n, text: 'ü 🎉 "' }, user_id: `u${n % 7}` },
      { calledAt: at(n % 50), receivedAt: at(50), client: 'abc' },
    ),
  );
  await store.write(events);
  await store.write(events.slice(10, 20)); // they came twice
  await store.write(times(120, (n) => identify({ n }, {}, { user_id: `u${n}` })));
  await store.refuse([refusal(), refusal({ message: 'dead', isDead: true, record: event() })]);
  // It came without its identify, so only the profile knows of it.
  const profile = { properties: { plan: 'pro' }, set_at: { plan: at(0) } };
  const touched = { created_at: at(0), updated_at: at(0) };
  await store.adopt({ profiles: [{ project: 'p', user_id: 'old', ...profile, ...touched }] });
  return store;
};

/** All that is in a store, but for places. */
const contentOf = async (store: Store) => {
  await caughtUp(store);
  const refused = await refusedOf(store);
  return {
    rows: withoutSeq(await rowsOf(store)),
    profiles: await store.profiles({}, ALL),
    refused: withoutSeq(refused),
    dead: withoutSeq(await store.dead(refused.map(({ seq }) => seq))),
    counts: await store.counts(),
  };
};

it('copies all, and nothing twice', async () => {
  const [from, to] = [await openFull(), open()];
  const told: unknown[] = [];
  const copied = await copyStore(from, to, { onProgress: (progress) => told.push(progress) });
  expect(copied).toEqual({ rows: 1_220, profiles: 0, refused: 2 });
  expect(told).toContainEqual({ part: 'rows', read: 1_000, added: 1_000 });
  expect(told).toContainEqual({ part: 'profiles', read: 100, added: 0 });
  expect(told.at(-1)).toEqual({ part: 'refused', read: 2, added: 2 });
  const content = await contentOf(from);
  expect(await contentOf(to)).toEqual(content);
  expect(await copyStore(from, to)).toEqual({ rows: 0, profiles: 0, refused: 0 });
  expect(await contentOf(to)).toEqual(content);
});

it('goes on where it broke off', async () => {
  const [from, to] = [await openFull(), open()];
  let adoptions = 0;
  const breaking: Store = {
    ...to,
    adopt: async (held) => {
      if (++adoptions === 2) throw new Error('the cable');
      return to.adopt(held);
    },
  };
  await expect(copyStore(from, breaking)).rejects.toThrow(
    'the copy broke off after 1000 rows, and can be run again: the cable',
  );
  await from.write([event()]);
  expect(await copyStore(from, to)).toMatchObject({ rows: 221 });
  expect(await contentOf(to)).toEqual(await contentOf(from));
});
