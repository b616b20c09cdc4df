// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSegment, takeOverSegment } from '../../src/compat-segment.js';
import { bodies, outbox, page, PAGE, refused, users } from './bench.js';

let segment: ReturnType<typeof createSegment>;
beforeEach(() => (segment = createSegment(outbox)));
afterEach(() => void vi.restoreAllMocks());

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

describe('track', () => {
  const timestamp = '2026-03-01T12:00:00.000Z';
  const options = { timestamp, integrations: { All: false } };

  it('is an event whose tags are the properties, with the options by their place', async () => {
    const done = vi.fn();
    await segment.track('Properties', { title: 'A', channel: 'no field' });
    await segment.track('Bare');
    await segment.track('All', { a: 1 }, options, done);
    await segment.track('No options', { a: 1 }, done);
    await segment.track('No properties', done);
    await segment.track('Nothing', null, null, undefined);
    await segment.track('Null', null, options);
    await segment.track('Undefined', undefined, options, done);
    await segment.track('Empty', {}, options);
    await segment.group('g1', { site: 'A' }, options);
    await segment.group('g2', done);
    await segment.page('Docs', 'Index', null, options);
    const isTimed = (row: { timestamp?: string }) => row.timestamp === timestamp;
    expect(outbox.events().map((row) => [row.event, row.tags, isTimed(row)])).toEqual([
      ['Properties', { title: 'A', channel: 'no field' }, false],
      ['Bare', {}, false],
      ['All', { a: 1 }, true],
      ['No options', { a: 1 }, false],
      ['No properties', {}, false],
      ['Nothing', {}, false],
      ['Null', {}, true],
      ['Undefined', {}, true],
      ['Empty', {}, true],
      ['Group Joined', { group_id: 'g1', site: 'A' }, true],
      ['Group Joined', { group_id: 'g2' }, false],
      ['Page Viewed', { ...PAGE, category: 'Docs', name: 'Index' }, true],
    ]);
    expect(done).not.toHaveBeenCalled();
    await nextTask();
    expect(done).toHaveBeenCalledTimes(5);
  });

  it('is reported like any wrong call, and does not throw', async () => {
    const thrown = {
      get plan() {
        throw new Error('in a getter of the page');
      },
    };
    await segment.track('');
    await segment.track(undefined as never);
    await segment.track('Getter', thrown);
    expect(outbox.rows()).toEqual([]);
    expect(outbox.drops()).toMatchObject([
      { reason: 'invalid-call', message: 'wrong name' },
      { reason: 'invalid-call' },
      { reason: 'not-serializable', message: 'in a getter of the page' },
    ]);
  });
});

describe('page', () => {
  it('is an event with what is known of the page', async () => {
    const done = vi.fn();
    await segment.page('Pricing');
    await segment.page('Docs', 'Index');
    await segment.page({ title: 'Mine' });
    await segment.page('Pricing', { title: 'Mine' });
    await segment.page('Docs', 'Index', { path: '/docs' }, { timestamp: new Date(0) }, done);
    await segment.page(null, 'Pricing', {}, {}, done);
    expect(bodies()).toEqual([
      ['Page Viewed', { ...PAGE, name: 'Pricing' }],
      ['Page Viewed', { ...PAGE, category: 'Docs', name: 'Index' }],
      ['Page Viewed', { ...PAGE, title: 'Mine' }],
      ['Page Viewed', { ...PAGE, name: 'Pricing', title: 'Mine' }],
      ['Page Viewed', { ...PAGE, category: 'Docs', name: 'Index', path: '/docs' }],
      ['Page Viewed', { ...PAGE, name: 'Pricing' }],
    ]);
    expect(outbox.events()[4]!.timestamp).toBe('1970-01-01T00:00:00.000Z');
    await nextTask();
    expect(done).toHaveBeenCalledTimes(2);
  });
});

describe('identify', () => {
  it('identifies, by the known user where none is given', async () => {
    const done = vi.fn();
    await segment.identify('u1', { name: 'A' }, { integrations: {} }, done);
    await segment.identify('u1', done);
    await segment.identify({ plan: 'pro' }, done);
    await segment.identify(null, { plan: 'free' });
    await segment.identify('u1', null, { integrations: {} });
    await segment.identify(42);
    await segment.track('After');
    expect(users()).toEqual([
      ['u1', { name: 'A' }],
      ['u1', {}],
      ['u1', { plan: 'pro' }],
      ['u1', { plan: 'free' }],
      ['u1', {}],
      ['42', {}],
    ]);
    expect(outbox.events()).toMatchObject([{ event: 'After', user_id: '42' }]);
    await nextTask();
    expect(done).toHaveBeenCalledTimes(3);
  });

  it('is refused where nobody is known', async () => {
    await segment.identify({ nickname: 'Grace' });
    expect(outbox.rows()).toEqual([]);
    expect(outbox.drops()).toMatchObject([{ reason: 'invalid-call' }]);
  });
});

it('tells of the user what is known, and forgets it on `reset`', async () => {
  expect(segment.user().id()).toBeUndefined();
  await segment.identify('u1', { a: 1 });
  expect(segment.user().id()).toBe('u1');
  expect(segment.user().anonymousId()).toBeNull();
  expect(segment.user().traits()).toBeNull();
  expect(segment.group().id()).toBeNull();
  expect(segment.group().traits()).toBeNull();
  segment.reset();
  expect(segment.user().id()).toBeUndefined();
});

it('tells listeners of calls, with their arguments', async () => {
  const one = vi.fn();
  const two = vi.fn();
  segment.on('track', one);
  segment.on('track', two);
  segment.on('page', two);
  await segment.track('A', { a: 1 }, { timestamp: 'x' });
  await segment.identify('u');
  await segment.page('Pricing');
  await nextTask();
  expect(one.mock.calls).toEqual([['A', { a: 1 }, { timestamp: 'x' }]]);
  expect(two.mock.calls).toEqual([['A', { a: 1 }, { timestamp: 'x' }], ['Pricing']]);
  segment.on('no such method', one);
});

it('tracks links and forms, one or many', () => {
  document.body.innerHTML =
    '<a id="a" href="#x">A</a><a id="b" href="#y">B</a><form id="f"></form>';
  const [a, b] = document.querySelectorAll('a');
  const form = document.querySelector('form')!;
  segment.trackLink(a!, 'Link', { plan: 'pro' });
  segment.trackLink(
    [a!, b!],
    ({ id }) => `Link ${id}`,
    ({ id }) => ({ id }),
  );
  segment.trackLink(document.querySelectorAll('a'), 'List');
  segment.trackForm(form, 'Form', { revenue: 99 });
  segment.trackLink(document.getElementById('missing'), 'Missing');
  a!.click();
  b!.click();
  form.dispatchEvent(new Event('submit'));
  form.click();
  expect(bodies()).toEqual([
    ['Link', { plan: 'pro' }],
    ['Link a', { id: 'a' }],
    ['List', {}],
    ['Link b', { id: 'b' }],
    ['List', {}],
    ['Form', { revenue: 99 }],
  ]);
});

it('calls back where a function is a callback, and nowhere else', async () => {
  const all = segment as unknown as Record<string, (...args: unknown[]) => unknown>;
  const callback = vi.fn();
  for (const name of ['track', 'page', 'identify', 'group', 'alias', 'ready'])
    await all[name]!('a', callback);
  await segment.ready(callback);
  await (segment.ready as () => unknown)();
  await nextTask();
  expect(callback).toHaveBeenCalledTimes(6);
  for (const name of ['addSourceMiddleware', 'addDestinationMiddleware', 'use', 'once', 'off'])
    await all[name]!('a', callback);
  await all['addSourceMiddleware']!(callback);
  await nextTask();
  expect(callback).toHaveBeenCalledTimes(6);
});

it('knows the other names of its calls', async () => {
  const all = segment as unknown as Record<string, (...args: unknown[]) => unknown>;
  await all['screen']!('Home');
  await all['pageview']!();
  const a = document.body.appendChild(document.createElement('a'));
  all['trackClick']!(a, 'Link');
  a.click();
  expect(bodies()).toEqual([
    ['Page Viewed', { ...PAGE, name: 'Home' }],
    ['Page Viewed', PAGE],
    ['Link', {}],
  ]);
});

it('goes without a page, on a server', async () => {
  vi.stubGlobal('document', undefined);
  vi.stubGlobal('location', undefined);
  await segment.page();
  vi.unstubAllGlobals();
  expect(bodies()).toEqual([['Page Viewed', {}]]);
});

describe('taking over a stub', () => {
  type Stub = unknown[] & Record<string, (...args: unknown[]) => unknown>;
  const stub = () => page['analytics'] as Stub;

  it('tells of each call that it cannot make: waiting, kept and later ones', async () => {
    const calls = [['once', 'track'], ['no such method']];
    page['analytics'] = Object.assign(calls, { methods: ['once', 'off'] });
    takeOverSegment(outbox);
    await stub()['off']!('track');
    await stub()['alias']!('new', 'old');
    stub().push(['nor this one']);
    const names = ['once', 'no such method', 'off', 'alias', 'nor this one'];
    expect(outbox.drops()).toEqual(refused(...names));
  });

  it('leaves what is no stub alone', () => {
    page['analytics'] = outbox;
    expect(() => takeOverSegment(outbox)).toThrow('window.analytics is not the stub of Segment');
    expect(page['analytics']).toBe(outbox);
  });

  it('takes another global', () => {
    page['segment'] = [['track', 'A']];
    takeOverSegment(outbox, 'segment');
    expect(page['analytics']).toBeUndefined();
    expect(bodies()).toEqual([['A', {}]]);
    delete page['segment'];
  });

  it('takes a page view for the page at the call', () => {
    const note = { __t: 'bpc', p: '/a;jsessionid=1A', t: 'A', r: 'https://x.example/?q=secret' };
    page['analytics'] = [
      ['page', note],
      ['page', 'Name', { title: 'Mine' }, note],
      ['track', 'A', note],
      ['track', 'B', { b: 1 }, note],
      ['no such method', note],
    ];
    takeOverSegment(outbox);
    const noted = { path: '/a', title: 'A', referrer: 'https://x.example/' };
    expect(bodies()).toEqual([
      ['Page Viewed', noted],
      ['Page Viewed', { ...noted, title: 'Mine', name: 'Name' }],
      ['A', {}],
      ['B', { b: 1 }],
    ]);
    expect(page['analytics']).toHaveLength(0);
  });
});
