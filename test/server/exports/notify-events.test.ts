import { expect, it } from 'vitest';
import { createEventMatcher, isEventPattern } from '../../../src/server/exports/notify-events.js';

const matches = (pattern: string, project: string, channel: string, event: string) =>
  createEventMatcher([pattern])({ project, channel, event });

it.each([
  ['shop/orders/Paid', true],
  ['shop/orders/*', true],
  ['*/*/*', true],
  ['*/orders/Pa*', true],
  ['s*p/o*r*s/*id', true],
  ['shop/orders/P*d', true],
  ['shop/orders/Pa*aid', false], // the two ends may not share a letter
  ['shop/orders/Pai', false],
  ['shop/orders/paid', false],
  ['shop/order/*', false],
  ['blog/*/*', false],
])('%s: %s', (pattern, isMeant) => {
  expect(matches(pattern, 'shop', 'orders', 'Paid')).toBe(isMeant);
});

it('takes an event with slashes, and signs that mean something in a regular expression', () => {
  expect(matches('shop/orders/GET /a?b', 'shop', 'orders', 'GET /a?b')).toBe(true);
  expect(matches('shop/orders/a.c', 'shop', 'orders', 'abc')).toBe(false);
});

it('is quick though a stranger sends a name that would keep a regular expression busy', () => {
  const started = performance.now();
  expect(matches('*/*/a*a*a*a*a*a*a*b', 'p', 'c', 'a'.repeat(60_000))).toBe(false);
  expect(performance.now() - started).toBeLessThan(5_000);
});

it.each(['shop', 'shop/orders', 'shop//x', '/orders/x', 'shop/orders/', ''])(
  'refuses the pattern "%s"',
  (pattern) => {
    expect(isEventPattern(pattern)).toBe(false);
  },
);
