import { expect, it } from 'vitest';
import { createSplit, MAX_SPLIT } from '../../../src/server/store/split.js';

const sumOf = (rows: readonly number[]) => rows.reduce((sum, count) => sum + count, 0);

it('has the pairs with the most rows, and all others as one, so that no row is left out', () => {
  const split = createSplit();
  const pairs = Array.from({ length: MAX_SPLIT + 50 }, (_, at) => ['web', `event ${at}`]);
  for (let hour = 0; hour < 3; hour++)
    split.add(JSON.stringify(pairs), JSON.stringify(pairs.map((_, at) => at + 1)));
  split.add(JSON.stringify([['…', '…']]), '[7]');
  const all = split.all();
  expect(all).toHaveLength(MAX_SPLIT + 1);
  expect(all[0]).toEqual({ channel: 'web', event: 'event 249', rows: [250, 250, 250, 0] });
  const rest = sumOf(Array.from({ length: 50 }, (_, at) => at + 1));
  expect(all.at(-1)).toEqual({ channel: '…', event: '…', rows: [rest, rest, rest, 7] });
});

it('has under the rest what is counted of a pair that has no rows any more', () => {
  const split = createSplit();
  split.add(
    JSON.stringify([
      ['web', 'gone'],
      ['…', '…'],
      ['web', 'a'],
    ]),
    '[-2, 5, 1]',
  );
  expect(split.all()).toEqual([
    { channel: 'web', event: 'a', rows: [1] },
    { channel: '…', event: '…', rows: [3] },
  ]);
});
