import fc from 'fast-check';
import { expect, test } from 'vitest';
import { worldOf } from './draw.js';
import { FAMILIES } from './families.js';
import { runWorld } from './world.js';

const entries = Object.entries(FAMILIES);

/** So many in all. At night many more, drawn freely: `FC_SEED=random WORLDS=100000`. */
const WORLDS = Number(process.env['WORLDS'] ?? 210);
const numRuns = Math.ceil(WORLDS / entries.length);

test.each(entries)('%s', { timeout: 86_400_000 }, async (_, { kind, promised }) => {
  const world = fc.asyncProperty(worldOf(kind), async (scenario) => {
    await runWorld(scenario, promised);
  });
  await fc.assert(world, { numRuns });
});

test('a scenario makes the same world each time', async () => {
  const [, { kind, promised }] = entries[1]!;
  for (const scenario of fc.sample(worldOf(kind), { numRuns: 3, seed: 1 })) {
    const lines = (await runWorld(scenario, promised))();
    expect(lines.length).toBeGreaterThan(1);
    expect((await runWorld(scenario, promised))()).toEqual(lines);
  }
});
