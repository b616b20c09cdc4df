// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { describe, expect, it, vi } from 'vitest';
import { createGtag, takeOverGtag } from '../../src/compat-gtag.js';
import { createLogSnag, takeOverLogSnag } from '../../src/compat-logsnag.js';
import { createPlausible, takeOverPlausible } from '../../src/compat-plausible.js';
import { createPostHog, takeOverPostHog } from '../../src/compat-posthog.js';
import { createSegment, takeOverSegment } from '../../src/compat-segment.js';
import { createUmami, takeOverUmami } from '../../src/compat-umami.js';
import { bodies, outbox, page, PAGE, refused } from './bench.js';

type Call = (...args: unknown[]) => unknown;
type Methods = Record<string, Call>;

/** Makes a call on a function that takes the name of its command, or on the method of this name. */
const callOf = (tool: unknown, name: string): Call =>
  typeof tool === 'function' && !(name in tool)
    ? (tool as Call).bind(undefined, name)
    : (tool as Methods)[name]!;

const TOOLS = {
  gtag: () => createGtag(outbox),
  Plausible: () => createPlausible(outbox),
  LogSnag: () => createLogSnag(outbox),
  PostHog: () => createPostHog(outbox),
  Segment: () => createSegment(outbox),
  Umami: () => createUmami(outbox),
};
type Tool = keyof typeof TOOLS;

it.each<[Tool, ...names: string[]]>([
  ['gtag', 'event', 'config', 'set', 'consent'],
  ['Plausible', 'Signup'],
  ['LogSnag', 'track', 'identify', 'group', 'setUserId'],
  ['PostHog', 'capture', 'identify', 'group', 'register', 'init'],
  ['Segment', 'track', 'page', 'identify', 'group'],
  ['Umami', 'track', 'identify'],
])('%s: nothing throws or rejects where an object is missing', async (tool, ...names) => {
  for (const name of names) {
    const call = callOf(TOOLS[tool](), name);
    for (const args of [[], [null], ['G-1', null], ['a', null, null]]) await call(...args);
  }
});

it.each<[Tool, name: string, ...args: unknown[]]>([
  ['gtag', 'config', 'G-TAG'],
  ['Plausible', 'pageview'],
  ['PostHog', 'capture', '$pageview'],
  ['Segment', 'page'],
  ['Umami', 'track'],
])('%s: a view is told with the page, without its query', async (tool, name, ...args) => {
  await callOf(TOOLS[tool](), name)(...args);
  expect(bodies()).toEqual([['Page Viewed', PAGE]]);
});

it('takes a location for its address, and does not call its `replace`', async () => {
  const shown = Object.assign(new URL('https://shop.example/cart?q=secret'), {
    replace: () => expect.fail('leads the page elsewhere'),
  });
  createGtag(outbox)('event', 'page_view', { page_location: shown });
  createPlausible(outbox)('pageview', { url: shown as never });
  await createUmami(outbox).track({ url: shown as never });
  expect(bodies()).toEqual(Array(3).fill(['Page Viewed', { ...PAGE, path: '/cart' }]));
});

it.each<[Tool, ...names: string[]]>([
  ['gtag', 'get'],
  ['LogSnag', 'insightTrack', 'insightIncrement'],
  ['Segment', 'alias', 'debug', 'timeout', 'register', 'deregister', 'setAnonymousId', 'use'],
  ['Segment', 'addSourceMiddleware', 'addDestinationMiddleware', 'once', 'off', 'queryString'],
])('%s refuses what has no counterpart in words, and does not throw', async (tool, ...names) => {
  for (const name of names)
    expect(await callOf(TOOLS[tool](), name)('new', 'old', {}, () => undefined)).toBeFalsy();
  expect(outbox.rows()).toEqual([]);
  const told = tool === 'LogSnag' ? names.map(() => 'insight') : names;
  expect(outbox.drops()).toEqual(refused(...told));
});

it.each<[Tool, answer: unknown[], call: (callback: () => void) => unknown]>([
  ['gtag', [], (callback) => createGtag(outbox)('event', 'A', { event_callback: callback })],
  ['Plausible', [{ status: 202 }], (callback) => createPlausible(outbox)('A', { callback })],
  ['Segment', [], (callback) => createSegment(outbox).ready(callback)],
])('%s calls back with %j, in a task of its own', async (_, answer, call) => {
  const callback = vi.fn();
  call(callback);
  expect(callback).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(callback).toHaveBeenCalledExactlyOnceWith(...answer));
});

describe('what takes over the global of a tool', () => {
  it.each<[global: string, takeOver: (analytics: typeof outbox) => unknown, ...call: string[]]>([
    ['gtag', takeOverGtag, 'event', 'A'],
    ['plausible', takeOverPlausible, 'A'],
    ['ls', takeOverLogSnag, 'track'],
    ['posthog', takeOverPostHog, 'capture', 'A'],
    ['analytics', takeOverSegment, 'track', 'A'],
    ['umami', takeOverUmami, 'track', 'A'],
  ])('makes window.%s where there is none', async (global, takeOver, name, event) => {
    takeOver(outbox);
    await callOf(page[global], name!)(...(global === 'ls' ? [{ event: 'A' }] : [event ?? {}]));
    expect(bodies()).toEqual([['A', {}]]);
  });

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
    expect(bodies().map(([name]) => name)).toEqual(['Page Viewed', 'A', 'B', 'C', 'D']);
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
    expect(bodies().map(([name]) => name)).toEqual(['A', 'B', 'C']);
  });
});
