import { expect, it } from 'vitest';
import { createClaimCalls } from '../../../src/server/queue/claim-calls.js';

const failed = () => Promise.reject(new Error('Redis is away'));

/** An answer that is lost when the test says so. */
const createAnswer = () => {
  let lose = (): void => {};
  const answer = new Promise<never>((_, reject) => {
    lose = () => reject(new Error('lost'));
  });
  return { answer, lose };
};

const setUp = () => {
  const call = createClaimCalls();
  return {
    call,
    fail: (...claims: string[]) => expect(call({ claims }, failed)).rejects.toThrow('away'),
    /** What a call that claims nothing gives up. */
    givenUp: () => call({}, async (_, givenUp) => givenUp),
  };
};

it('forgets no claim that was made after it was asked to, whichever answer comes first', async () => {
  const { call, givenUp } = setUp();
  await call({ claims: ['a'] }, async () => {});
  const { answer, lose } = createAnswer();
  const forgotten = call({ forgets: ['a'] }, () => answer);
  await call({ claims: ['a'] }, async (number) => expect(number).toBe(3));
  lose();
  await expect(forgotten).rejects.toThrow('lost');
  expect(await givenUp()).toEqual([{ id: 'a', first: 1, last: 2 }]);
});

it('tries again what it could not give up, and does so in one call only of those beside each other', async () => {
  const { call, fail, givenUp } = setUp();
  await fail('a');
  await fail('b');
  const { answer, lose } = createAnswer();
  const first = call({}, () => answer);
  expect(await givenUp()).toEqual([]);
  lose();
  await expect(first).rejects.toThrow('lost');
  expect((await givenUp()).map(({ id }) => id)).toEqual(['a', 'b']);
});

it('remembers a bounded number, the oldest, and gives up a part of them with each call', async () => {
  const { fail, givenUp } = setUp();
  for (let n = 0; n < 120; n++) await fail(...Array.from({ length: 100 }, (_, i) => `${n} ${i}`));
  const parts = await Promise.all(Array.from({ length: 11 }, givenUp));
  expect(parts.map(({ length }) => length)).toEqual([...Array(10).fill(1_000), 0]);
  expect(new Set(parts.flat().map(({ id }) => id)).size).toBe(10_000);
  expect(parts.flat()[0]!.id).toBe('0 0');
});
