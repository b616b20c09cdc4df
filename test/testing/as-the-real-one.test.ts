// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { expect, it, vi } from 'vitest';
import { FACTS } from '../../src/client/consent.js';
import { createAnalytics as createReal } from '../../src/index.js';
import { createAnalytics } from '../../src/testing.js';
import type { Analytics, Drop, Options } from '../../src/client/types.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

/** All kinds of calls, right and wrong, as a page without types may make them. */
const callEverything = ({
  event,
  identify,
  reset,
  setConsent,
}: Record<string, (...args: unknown[]) => void>) => {
  event!('Before anybody');
  identify!('user_1', { plan: 'pro', at: new Date(NOW) });
  event!('Plain');
  event!('Tags beside', { plan: 'pro', seats: 3, tags: { plan: 'free' } });
  event!('All fields', {
    ...{ channel: 'growth', description: 'd', icon: '🎉', notify: true, tags: { a: [1] } },
    ...{ userId: 'user_2', timestamp: new Date(0) },
  });
  event!('No user', { userId: null });
  event!('Wire name', { user_id: 'user_3', userId: 'user_4' });
  event!('Slip', { descripton: 'd' });
  event!('Seconds', { timestamp: 1_700_000_000 });
  event!('Too many', {}, 'x');
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  event!('Cyclic', cyclic);
  event!('Large', { text: 'x'.repeat(70_000) });
  for (const name of [undefined, null, '', 1, {}]) event!(name);
  event!('Fields', 'text');
  event!('Channel', { channel: 1 });
  event!('Time', { timestamp: 'soon' });
  event!('Dropped');
  event!('Throws');
  event!('Changed');
  for (const id of [undefined, null, '', 1, 'undefined', 'null', '[object Object]', {}]) {
    identify!(id);
    event!('User', { userId: id });
  }
  identify!('user_5', 'text');
  identify!('user_6');
  event!('Another user');
  reset!();
  event!('Nobody');
  setConsent!('granted');
  setConsent!('maybe');
};

const told = (options: Partial<Options> = {}) => {
  const drops: Drop[] = [];
  const setup = {
    ...{ baseUrl: 'https://in.example.com', token: 't', project: 'shop', channel: 'web' },
    now: () => NOW,
    beforeSend: (draft) => {
      if (draft.type === 'identify') return draft;
      if (draft.body.event === 'Dropped') return null;
      if (draft.body.event === 'Throws') throw new Error('in beforeSend');
      if (draft.body.event === 'Changed') draft.body.tags = { changed: true };
      return draft;
    },
    onDrop: (drop) => drops.push(drop),
    ...options,
  } as Options;
  return { drops, setup };
};

const withoutIds = (drops: readonly Drop[]) =>
  drops.map(({ reason, message, record }) => ({ reason, message, body: record?.body }));

it('records what a real instance sends, and reports what a real instance reports', async () => {
  const sent: unknown[] = [];
  const real = told({
    fetch: async (url, request) => {
      const [, type] = /v1\/(\w+)$/.exec(url as string)!;
      sent.push({ type, body: JSON.parse(request!.body as string) as unknown });
      return Response.json({ success: true });
    },
  });
  const served = createReal(real.setup);
  callEverything(served as never);
  expect((await served.flush()).waiting).toBe(0);
  served.stop();

  const tested = told();
  const test = createAnalytics(tested.setup);
  callEverything(test as never);

  // Requests overtake each other, but for a user's own.
  const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
  expect(sorted(test.rows())).toEqual(sorted(sent));
  expect(sent.length).toBeGreaterThan(15);
  expect(withoutIds(test.drops())).toEqual(withoutIds(real.drops));
  expect(withoutIds(tested.drops)).toEqual(withoutIds(real.drops));
  expect(real.drops.length).toBeGreaterThan(15);
});

const SETUP = {
  ...{ relay: 'https://shop.example/a', project: 'shop', channel: 'web', now: () => NOW },
};
type Look = () => void;
const LIVES: Readonly<Record<string, (analytics: Analytics, look: Look) => void>> = {
  'consent that changes': (analytics, look) => {
    analytics.init({ ...SETUP, consent: 'pending' });
    analytics.identify('user_1');
    analytics.event('While pending');
    look();
    analytics.setConsent('granted');
    analytics.setConsent('granted');
    analytics.event('While granted');
    look();
    analytics.setConsent('pending');
    analytics.event('While pending again');
    look();
    analytics.setConsent('denied');
    analytics.event('While denied');
    look();
    analytics.setConsent('granted');
    analytics.event('Of nobody');
    analytics.reset();
    look();
    analytics.init({ ...SETUP, consent: 'denied' }); // was said to be granted
  },
  'a disabled instance': (analytics, look) => {
    analytics.init({ ...SETUP, disabled: true });
    analytics.event('While disabled');
    analytics.reset();
    look();
    analytics.init(SETUP);
    analytics.event('After');
  },
  'a denial before `init`': (analytics) => {
    analytics.setConsent('denied');
    analytics.event('Before');
    analytics.init(SETUP);
    analytics.event('After');
  },
  'a stop, and on': (analytics, look) => {
    analytics.init(SETUP);
    analytics.identify('user_1');
    analytics.event('Before');
    analytics.stop();
    look();
    analytics.init(SETUP);
    analytics.event('After');
  },
  'Global Privacy Control': (analytics) => {
    vi.stubGlobal('navigator', { globalPrivacyControl: true });
    analytics.init({ ...SETUP, respectGpc: true });
    analytics.event('A');
    vi.unstubAllGlobals();
  },
};

/** What listeners hear of a life, and how the status changes. */
const stepsOf = (analytics: Analytics, live: (typeof LIVES)[string]): unknown[] => {
  const steps: unknown[] = [];
  for (const type of ['record', 'drop', 'consent', 'reset'] as const) {
    analytics.on(type, (payload) => {
      const { body, reason, consent } = payload as Record<string, unknown>;
      steps.push([type, body ?? reason ?? consent]);
    });
  }
  const look = () => {
    const { consent, waiting, delivered, dropped, paused, userId } = analytics.status();
    steps.push({ consent, waiting, delivered, dropped, paused, userId });
  };
  live(analytics, look);
  look();
  analytics.stop();
  return steps;
};

it.each(Object.entries(LIVES))('follows %s as a real instance does', (_, live) => {
  localStorage.clear();
  Reflect.deleteProperty(globalThis, FACTS); // which all instances of a page share
  const steps = stepsOf(createReal(), live);
  expect(stepsOf(createAnalytics(), live)).toEqual(steps);
  expect(steps.length).toBeGreaterThan(1);
});
