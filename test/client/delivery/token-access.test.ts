import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../src/client/delivery/sender.js';
import { createTokenAccess } from '../../../src/client/delivery/token-access.js';
import { createTokenSource } from '../../../src/interface/token.js';

const setUp = async () => {
  let given = 0;
  const option = async () => `token-${++given}`;
  const access = createTokenAccess(createTokenSource(() => option));
  await access.ask();
  return access;
};

const refusal = (status: number, token = 'token-1'): Attempt => ({
  ...{ outcome: 'blocked', status, token },
  ...{ retryAfterMs: 0, problem: '' },
});

describe('a refusal', () => {
  it('of 401 has another token asked for, once until one passes', async () => {
    const access = await setUp();
    expect(access.refused(refusal(401))).toBe(true);
    expect(access.isReady()).toBe(false);
    await access.ask();
    expect(access.refused(refusal(401, 'token-2'))).toBe(false);
    access.passed();
    expect(access.refused(refusal(401, 'token-2'))).toBe(true);
  });

  it.each([403, 404, 405])('of %i says nothing of the token', async (status) => {
    const access = await setUp();
    expect(access.refused(refusal(status))).toBe(false);
    expect(access.isReady()).toBe(true);
  });

  it('of a token that is not in use any more says nothing', async () => {
    const access = await setUp();
    expect(access.refused(refusal(403, 'another'))).toBe(true);
    expect(access.isReady()).toBe(true);
  });

  it('of 401 for good has the token forgotten', async () => {
    const access = await setUp();
    access.refused(refusal(401));
    await access.ask();
    expect(access.refused(refusal(401, 'token-2'))).toBe(false);
    expect(access.isReady()).toBe(false);
  });
});
