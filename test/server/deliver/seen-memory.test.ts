import { expect, it } from 'vitest';
import { createSeenMemory, createShares } from '../../../src/server/deliver/seen-memory.js';
import type { BatchResult } from '../../../src/interface/wire.js';
import { describeSeen } from '../queue/seen-contract.js';

const done = (id: string): BatchResult => ({ id, outcome: 'delivered', status: 200 });
const statesOf = async (seen: ReturnType<typeof createSeenMemory>, ...ids: string[]) =>
  (await seen.begin(ids, 1_000, 'me')).map(({ state }) => state);

describeSeen('memory', async () => {
  let time = 1_000_000;
  const seen = createSeenMemory({ now: () => time });
  return { open: async () => seen, pass: async (ms) => void (time += ms) };
});

it('forgets an id at its age', async () => {
  let time = 0;
  const seen = createSeenMemory({ now: () => time, maxAge: 5_000 });
  await seen.finish([done('a')]);
  time = 4_999;
  expect(await statesOf(seen, 'a')).toEqual(['done']);
  time = 5_000;
  expect(await statesOf(seen, 'a')).toEqual(['new']);
});

it('counts a record for the client that began it, whoever finishes it', async () => {
  const seen = createSeenMemory({ maxIds: 2 });
  await seen.begin(['a', 'b'], 1_000, 'me');
  await seen.finish([done('a'), done('b')], 'a consumer');
  await seen.begin(['c'], 1_000, 'other');
  expect(await statesOf(seen, 'b', 'c', 'a')).toEqual(['done', 'begun', 'new']);
});

it('shares places as a count of everything does, whatever is added and removed', () => {
  const shares = createShares();
  const all = new Map<string, string[]>();
  let seed = 1;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let step = 0; step < 5_000; step++) {
    const client = `c${random(9)}`;
    const items = all.get(client) ?? [];
    all.set(client, items);
    const what = random(5);
    if (items.length && what < 1) {
      shares.remove(client, items.splice(random(items.length), 1)[0]!);
    } else if (items.length && what < 2) {
      const most = Math.max(...[...all.values()].map(({ length }) => length));
      const item = shares.removeOldest();
      const loser = [...all.values()].find(([first]) => first === item);
      expect(loser?.length).toBe(most);
      loser?.shift();
    } else {
      items.push(`i${step}`);
      shares.add(client, `i${step}`);
    }
  }
});
