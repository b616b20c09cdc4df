// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogSnag, takeOverLogSnag } from '../../src/compat-logsnag.js';
import { outbox, page, refused, users } from './bench.js';

let logsnag: ReturnType<typeof createLogSnag>;
beforeEach(() => (logsnag = createLogSnag(outbox)));

describe('track', () => {
  it('is an event with the same fields', async () => {
    const options = {
      ...{ channel: 'payments', event: 'New Subscription', user_id: 'user-123' },
      ...{ description: 'd', icon: '💰', notify: true },
      tags: { plan: 'premium', trial: false },
      timestamp: 1_700_000_000,
    };
    expect(await logsnag.track({ ...options, parser: 'markdown' })).toBe(true);
    expect(outbox.events()).toEqual([
      { project: 'test', ...options, timestamp: '2023-11-14T22:13:20.000Z' },
    ]);
    expect(outbox.drops()).toEqual([]);
  });

  it.each([
    ['seconds', 1_700_000_000],
    ['milliseconds', 1_700_000_000_000],
    ['a Date', new Date(1_700_000_000_000)],
    ['ISO 8601', '2023-11-14T22:13:20.000Z'],
  ])('takes a time in %s', async (_, timestamp) => {
    await logsnag.track({ event: 'A', timestamp });
    expect(outbox.events()).toMatchObject([{ timestamp: '2023-11-14T22:13:20.000Z' }]);
  });

  it('has the time of the call, and the usual channel, where none is given', async () => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] });
    await logsnag.track({ event: 'A' });
    vi.useRealTimers();
    expect(outbox.events()).toMatchObject([
      { channel: 'test', timestamp: '2023-11-14T22:13:20.000Z' },
    ]);
  });
});

it('identifies, by the user of `setUserId` where none is given', async () => {
  expect(await logsnag.identify({ user_id: 'u1', properties: { plan: 'pro' } })).toBe(true);
  logsnag.setUserId('u2');
  logsnag.setUserId('u2'); // and once, however often it is called
  await logsnag.identify({ properties: { plan: 'free' } });
  await logsnag.track({ event: 'A' });
  logsnag.setUserId(null);
  await logsnag.track({ event: 'B' });
  await logsnag.identify({ properties: { plan: 'none' } });
  logsnag.setUserId('u2');
  logsnag.clearUserId();
  await logsnag.track({ event: 'C' });
  logsnag.setUserId('u3');
  outbox.reset(); // by the page itself
  logsnag.setUserId('u3');
  await logsnag.track({ event: 'D' });
  outbox.reset();
  await logsnag.identify({ properties: { plan: 'none' } });
  expect(users()).toEqual([
    ['u1', { plan: 'pro' }],
    ['u2', {}],
    ['u2', { plan: 'free' }],
    ['u2', {}],
    ['u3', {}],
    ['u3', {}],
  ]);
  expect(outbox.events().map(({ event, user_id }) => [event, user_id])).toEqual([
    ['A', 'u2'],
    ['B', undefined],
    ['C', undefined],
    ['D', 'u3'],
  ]);
  expect(outbox.drops()).toMatchObject([{ reason: 'invalid-call' }, { reason: 'invalid-call' }]);
});

it('makes an event of `group`', async () => {
  const group = { user_id: 'u1', group_id: 'g1', properties: { name: 'ACME' } };
  expect(await logsnag.group(group)).toBe(true);
  expect(outbox.events()).toMatchObject([
    { event: 'Group Joined', user_id: 'u1', tags: { group_id: 'g1', name: 'ACME' } },
  ]);
});

it('does nothing while tracking is disabled', async () => {
  logsnag.disableTracking();
  expect(logsnag.isTrackingDisabled()).toBe(true);
  expect(await logsnag.track({ event: 'A' })).toBe(true);
  await logsnag.identify({ user_id: 'u', properties: {} });
  logsnag.setUserId('u');
  expect(outbox.rows()).toEqual([]);
  logsnag.enableTracking();
  expect(logsnag.isTrackingDisabled()).toBe(false);
  await logsnag.track({ event: 'B' });
  expect(outbox.events()).toMatchObject([{ event: 'B' }]);
});

describe('taking over the script for pages', () => {
  type Ls = (...call: unknown[]) => void;
  const ls: Ls = (...call) => (page['ls'] as Ls)(...call);

  it('makes the calls that wait, in order, and those to come by either function', () => {
    const waiting: unknown[][] = [];
    const before: Ls = (...call) => void waiting.push(call);
    Object.assign(page, { ls: before, lsq: waiting });
    ls('setConfig', 'token', 'project');
    ls('setDebug', true);
    ls('setUserId', 'u1');
    ls('track', { event: 'A' });
    takeOverLogSnag(outbox);
    before('track', { event: 'B' });
    ls('identify', { properties: { plan: 'pro' } });
    ls('clearUserId');
    ls('track', { event: 'C' });
    expect(
      outbox
        .rows()
        .map(({ body }) => ('event' in body ? [body.event, body.user_id] : body.user_id)),
    ).toEqual(['u1', ['A', 'u1'], ['B', 'u1'], 'u1', ['C', undefined]]);
    expect(page['lsq']).toHaveLength(0);
  });

  it('tells of a call that it does not know, by whatever way', async () => {
    page['lsq'] = [['no such method']];
    takeOverLogSnag(outbox);
    const { insight } = logsnag as unknown as {
      insight: Record<'track' | 'increment', (options: object) => Promise<boolean>>;
    };
    expect(await insight.track({ title: 'User Count', value: 1 })).toBe(false);
    expect(await insight.increment({ title: 'User Count', value: 1 })).toBe(false);
    expect(outbox.drops()).toEqual(refused('no such method', 'insight', 'insight'));
  });
});
