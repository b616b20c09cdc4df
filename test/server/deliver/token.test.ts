import { describe, expect, it, vi } from 'vitest';
import { createTokenSource } from '../../../src/server/deliver/token.js';
import type { Token } from '../../../src/client/types.js';

const TIMEOUT_MS = 5_000;
const sourceOf = (token: Token) => createTokenSource(token, TIMEOUT_MS);

it('a token given as a string is there without being asked for, and stays when it is refused', () => {
  const token = sourceOf('tok');
  expect(token.get()).toBe('tok');
  expect(token.refused()).toBe(false);
  expect(token.get()).toBe('tok');
});

describe('a token function', () => {
  it('is asked for, and its token kept', async () => {
    const option = vi.fn(async () => 'tok');
    const token = sourceOf(option);
    expect(token.get()).toBeUndefined();
    expect(await token.ask()).toBeUndefined();
    expect(token.get()).toBe('tok');
    expect(option).toHaveBeenCalledTimes(1);
  });

  it('is called once for those who ask at the same time', async () => {
    const option = vi.fn(async () => 'tok');
    const token = sourceOf(option);
    await Promise.all([token.ask(), token.ask(), token.ask()]);
    expect(option).toHaveBeenCalledTimes(1);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object', { token: 'tok' }],
    ['spaces', ' '],
    ['a dash that a header cannot carry', 'tok–en'],
  ])('that gives %s has a problem', async (_, value) => {
    const token = sourceOf(async () => value as string);
    expect(await token.ask()).toBe(
      'the function `token` must give a string of ASCII characters without spaces',
    );
    expect(token.get()).toBeUndefined();
  });

  it('may give a token that ends with a line break, as one from a file does', async () => {
    const option = () => 'tok\n';
    const token = sourceOf(option);
    expect(await token.ask()).toBeUndefined();
    expect(token.get()).toBe('tok');
  });

  const odd = Object.assign(Object.create(null) as object, { message: undefined });
  it.each<[string, () => string | Promise<string>, words: string]>([
    ['rejects', () => Promise.reject(new Error('no session')), 'no session'],
    ['rejects with something odd', () => Promise.reject(odd as unknown as Error), 'failed'],
    [
      'throws',
      () => {
        throw new Error('no session');
      },
      'no session',
    ],
    ['gives nothing', () => '', 'must give'],
  ])('that %s has it told, and is asked again', async (_, fails, words) => {
    const option = vi.fn<() => string | Promise<string>>(fails);
    const token = sourceOf(option);
    expect(await token.ask()).toContain(words);
    option.mockImplementation(() => 'tok');
    expect(await token.ask()).toBeUndefined();
    expect(token.get()).toBe('tok');
  });

  it('is asked for another one once, until a request passes', async () => {
    let count = 0;
    const option = () => `tok${++count}`;
    const token = sourceOf(option);
    await token.ask();
    expect(token.refused()).toBe(true);
    expect(token.get()).toBeUndefined();
    await token.ask();
    expect(token.get()).toBe('tok2');
    expect(token.refused()).toBe(false);
    token.passed();
    expect(token.refused()).toBe(true);
  });
});
