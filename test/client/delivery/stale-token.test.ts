import { describe, expect, it } from 'vitest';
import { tellToken } from '../../../src/client/delivery/direct-sender.js';
import { outcomeOf } from '../../../src/interface/outcome.js';
import { createTokenSource } from '../../../src/interface/token.js';

const setUp = async () => {
  let given = 0;
  const option = async () => `token-${++given}`;
  const token = createTokenSource(() => option);
  await token.ask();
  const answer = (status: number, used = 'token-1') =>
    tellToken(token, used, { outcome: outcomeOf(status, ''), status });
  return { token, answer };
};

describe('a refusal', () => {
  it('of 401 has another token asked for, once until one passes', async () => {
    const { token, answer } = await setUp();
    expect(answer(401)).toBe(true);
    expect(token.get()).toBeUndefined();
    await token.ask();
    expect(answer(401, 'token-2')).toBe(false);
    await token.ask();
    expect(answer(200, 'token-3')).toBe(false);
    expect(answer(401, 'token-3')).toBe(true);
  });

  it.each([403, 404, 405])('of %i says nothing of the token', async (status) => {
    const { token, answer } = await setUp();
    expect(answer(status)).toBe(false);
    expect(token.get()).toBe('token-1');
  });

  it('of a token that is not in use any more says nothing', async () => {
    const { token, answer } = await setUp();
    expect(answer(403, 'another')).toBe(true);
    expect(token.get()).toBe('token-1');
  });

  it('of 401 for good has the token forgotten', async () => {
    const { token, answer } = await setUp();
    answer(401);
    await token.ask();
    expect(answer(401, 'token-2')).toBe(false);
    expect(token.get()).toBeUndefined();
  });
});
