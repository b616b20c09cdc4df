import { expect, it } from 'vitest';
import { createSteps } from '../../../src/server/store/steps.js';

/** Steps through a thousand places, of which reading blocks the only thread. */
const stepsOf = (last = 1_000) =>
  createSteps({
    blocks: true,
    table: (name) => name,
    read: async <Row>() => [{ first: 1, last }] as Row[],
  });
const work = (ms: number): void => {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
};

it('goes over each place once, from either end', async () => {
  const { steps } = stepsOf();
  for (const newest of [false, true]) {
    const seen: number[] = [];
    const isLast: boolean[] = [];
    for await (const step of steps({ newest, after: 3, before: 990 })) {
      const places = Array.from(
        { length: step.before - step.after - 1 },
        (_, n) => step.after + 1 + n,
      );
      seen.push(...(newest ? places.reverse() : places));
      isLast.push(step.isLast);
    }
    const all = Array.from({ length: 986 }, (_, n) => 4 + n);
    expect(seen).toEqual(newest ? all.reverse() : all);
    expect(isLast).toEqual(isLast.map((_, at) => at === isLast.length - 1));
    expect(isLast.length).toBeGreaterThan(2);
  }
});

it('makes steps smaller while they take long, and larger while they do not', async () => {
  const { steps } = stepsOf(100_000);
  const sizes: number[] = [];
  for await (const { after, before } of steps({})) {
    sizes.push(before - after - 1);
    if (sizes.length > 2) work(20);
    if (sizes.length > 6) break;
  }
  expect(sizes.slice(0, 3)).toEqual([100, 200, 400]);
  expect(sizes[3]).toBeLessThan(201);
  expect(sizes.at(-1)).toBeLessThan(sizes[3]!);
});

it('gives those who look turns, and lets one work at a time', async () => {
  const { steps } = stepsOf();
  const order: string[] = [];
  let working = 0;
  const look = async (name: string): Promise<void> => {
    for await (const { after } of steps({ rests: true })) {
      expect([after, ++working]).toEqual([after, 1]);
      await new Promise(setImmediate);
      order.push(name);
      working--;
    }
  };
  await Promise.all([look('a'), look('b'), look('c')]);
  expect(order.length).toBeGreaterThan(6);
  expect(order.join('')).toMatch(/^(abc)+$/);
});

it('rests between its steps', async () => {
  const { steps } = stepsOf(100_000);
  const seen: number[] = [];
  let startedAt = 0;
  for await (const { after } of steps({ rests: true })) {
    startedAt ||= performance.now();
    work(5);
    if (seen.push(after) > 5) break;
  }
  // Five steps of 5 ms, and at least as long a rest after each of the first ones.
  expect(performance.now() - startedAt).toBeGreaterThan(5 * 5 * 2);
});

it('ends when its time is over', async () => {
  const { steps } = stepsOf(1_000_000);
  let count = 0;
  for await (const { isLast } of steps({ rests: true, ms: 0 })) {
    count++;
    expect(isLast).toBe(false);
  }
  expect(count).toBe(1);
});
