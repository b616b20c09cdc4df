import { expect, it } from 'vitest';
import { createGroups } from '../../../src/server/store/groups.js';

it('runs the jobs together that come while others run, and fails them together', async () => {
  const runs: string[] = [];
  const groups = createGroups<string, string>({
    lanes: 1,
    run: async (items) => {
      runs.push(items.join(' '));
      await new Promise(setImmediate);
      if (items.includes('broken')) throw new Error('away');
      return items.map((item) => `${item}!`);
    },
  });
  const all = ['a', 'b', 'c'].map((item) => groups.add([item, item]));
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c'].map((item) => [`${item}!`, `${item}!`]));
  expect(runs).toEqual(['a a', 'b b c c']);
  const some = ['d', 'e', 'broken'].map((item) => groups.add([item]).catch(String));
  expect(await Promise.all(some)).toEqual([['d!'], 'Error: away', 'Error: away']);
  await groups.whenIdle();
});
