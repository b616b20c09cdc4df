import { expect, test } from 'vitest';
import { createSum, inWords, type Tally } from '../../lab/simulation/tally.js';

const EXCUSE = 'once: storage faults met';

/** So many worlds of 30 records, of which the excuse was used for some. */
const sumOf = (worlds: number, used: (world: number) => number) => {
  const sum = createSum();
  for (let world = 0; world < worlds; world++) {
    const tally: Tally = { looked: { once: 30 }, used: { [EXCUSE]: used(world) } };
    sum.add(tally);
  }
  return sum.lines().find(({ excuse }) => excuse === EXCUSE)!;
};

test('an excuse that is used in more than 1 % of the records is overused', () => {
  const line = sumOf(1_000, () => 1);
  expect(line).toMatchObject({ used: 1_000, looked: 30_000, isOverused: true });
  expect(inWords(line)).toMatch(/1000 of 30000 +3.333 % TOO OFTEN: at most 1.000 %/);
});

test('an excuse that is used in less than 1 % of the records is not', () => {
  const line = sumOf(1_000, (world) => (world % 10 === 0 ? 1 : 0));
  expect(line).toMatchObject({ used: 100, looked: 30_000, isOverused: false });
});

test('one bad world among few may be chance', () => {
  expect(sumOf(20, (world) => (world === 0 ? 30 : 0))).toMatchObject({ isOverused: false });
});

test('what no check looked at is no share', () => {
  expect(inWords(createSum().lines()[0]!)).toMatch(/0 of 0 +0.000 %$/);
});
