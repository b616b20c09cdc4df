// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { afterEach, beforeEach, expect, it, test, vi } from 'vitest';
import { createGtag, takeOverGtag } from '../../src/compat-gtag.js';
import { createLogSnag } from '../../src/compat-logsnag.js';
import { createPlausible, takeOverPlausible } from '../../src/compat-plausible.js';
import { createPostHog } from '../../src/compat-posthog.js';
import { createSegment } from '../../src/compat-segment.js';
import { createUmami } from '../../src/compat-umami.js';
import { createAnalytics } from '../../src/testing.js';

const outbox = createAnalytics();
const page = globalThis as unknown as Record<string, unknown>;
const names = () => outbox.events().map(({ event }) => event);

beforeEach(() => {
  outbox.clear();
  for (const name of ['dataLayer', 'gtag', 'plausible']) delete page[name];
});
afterEach(() => outbox.stop());

type Call = (...args: unknown[]) => unknown;
/** Calls that tools take with `null`, or with nothing, in place of an object. */
const CALLS: Record<string, () => readonly [object | Call, ...names: string[]]> = {
  gtag: () => [createGtag(outbox), 'event', 'config', 'set', 'consent'],
  Plausible: () => [createPlausible(outbox), 'Signup'],
  LogSnag: () => [createLogSnag(outbox), 'track', 'identify', 'group', 'setUserId'],
  PostHog: () => [createPostHog(outbox), 'capture', 'identify', 'group', 'register', 'init'],
  Segment: () => [createSegment(outbox), 'track', 'page', 'identify', 'group'],
  Umami: () => [createUmami(outbox), 'track', 'identify'],
};

test.each(Object.keys(CALLS))(
  '%s: nothing throws or rejects where an object is missing',
  async (tool) => {
    const [target, ...methods] = CALLS[tool]!();
    for (const method of methods) {
      const call: Call =
        typeof target === 'function'
          ? (target as Call).bind(undefined, method)
          : (target as Record<string, Call>)[method]!;
      for (const args of [[], [null], ['G-1', null], ['a', null, null]]) await call(...args);
    }
  },
);

it('makes the calls that wait behind one whose object is missing', () => {
  page['dataLayer'] = [
    ['config', 'G-1', null],
    ['set', null],
    ['event', 'A', null],
    { event: 'B' },
  ];
  takeOverGtag(outbox);
  page['plausible'] = Object.assign(() => undefined, { q: [['C', null], ['D']] });
  takeOverPlausible(outbox);
  expect(names()).toEqual(['Page Viewed', 'A', 'B', 'C', 'D']);
});

it('makes the call where a function of the page fails, and those that wait behind it', async () => {
  const fail = () => {
    throw new Error('of the page');
  };
  page['plausible'] = Object.assign(() => undefined, {
    o: { customProperties: fail },
    q: [['A'], ['B']],
  });
  takeOverPlausible(outbox);
  const segment = createSegment(outbox);
  vi.useFakeTimers();
  segment.on('track', fail);
  await segment.track('C');
  expect(() => vi.runAllTimers()).toThrow('of the page'); // an error of the page's, in a task of its own
  vi.useRealTimers();
  await createUmami(outbox).track(fail); // nothing is left to make
  expect(names()).toEqual(['A', 'B', 'C']);
});

it('takes a location for its address, and does not call its `replace`', async () => {
  const shown = Object.assign(new URL('https://shop.example/cart?q=secret'), {
    replace: () => expect.fail('leads the page elsewhere'),
  });
  createGtag(outbox)('event', 'page_view', { page_location: shown });
  createPlausible(outbox)('pageview', { url: shown as never });
  await createUmami(outbox).track({ url: shown as never });
  expect(outbox.events().map(({ tags }) => tags)).toMatchObject(Array(3).fill({ path: '/cart' }));
});
