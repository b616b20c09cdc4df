// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPostHog, takeOverPostHog } from '../../src/compat-posthog.js';
import { createAnalytics } from '../../src/testing.js';

const outbox = createAnalytics();
const bodies = () => outbox.events().map(({ event, tags }) => [event, tags]);
const users = () => outbox.identifies().map(({ user_id, properties }) => [user_id, properties]);

beforeEach(() => {
  outbox.init({ relay: '/a', project: 'p', channel: 'c' });
  outbox.clear();
  document.title = 'Pricing';
});
afterEach(() => outbox.stop());

describe('the calls of PostHog', () => {
  it('capture: an event whose tags are the properties', () => {
    const posthog = createPostHog(outbox);
    posthog.init('phc_key', { api_host: 'https://us.i.posthog.com' });
    posthog.capture('user_signed_up');
    posthog.capture('user_signed_up', { login_type: 'email', is_free_trial: true });
    posthog.capture('imported', {}, { timestamp: new Date(0) });
    expect(bodies()).toEqual([
      ['user_signed_up', {}],
      ['user_signed_up', { login_type: 'email', is_free_trial: true }],
      ['imported', {}],
    ]);
    expect(outbox.events()[2]!.timestamp).toBe('1970-01-01T00:00:00.000Z');
  });

  it('capture of `$pageview`: the page, without what is behind its path', () => {
    createPostHog(outbox).capture('$pageview');
    expect(bodies()).toEqual([
      ['Page Viewed', { path: '/pricing', title: 'Pricing', referrer: '' }],
    ]);
  });

  it('identify, $set and reset: the user of later events', () => {
    const posthog = createPostHog(outbox);
    posthog.identify('u1', { email: 'max@example.com' }, { first_visit: '2026-01-01' });
    posthog.capture('paid', { plan: 'pro', $set: { plan: 'pro' } });
    posthog.setPersonProperties({ name: 'Max' });
    expect(posthog.get_distinct_id()).toBe('u1');
    posthog.reset();
    posthog.capture('left');
    expect(users()).toEqual([
      ['u1', { email: 'max@example.com' }],
      ['u1', { plan: 'pro' }],
      ['u1', { name: 'Max' }],
    ]);
    expect(outbox.events().map(({ user_id, tags }) => [user_id, tags])).toEqual([
      ['u1', { plan: 'pro' }],
      [undefined, {}],
    ]);
  });

  it('register: tags of all later events, until unregister and reset', () => {
    const posthog = createPostHog(outbox);
    posthog.register({ team: 'a', icecream: 'vanilla' });
    posthog.register_once({ team: 'b', first: 1 });
    posthog.capture('A', { icecream: 'mint' });
    posthog.unregister('team');
    posthog.register_for_session({ session: 's' });
    posthog.capture('B');
    posthog.reset();
    posthog.capture('C');
    expect(bodies()).toEqual([
      ['A', { team: 'a', icecream: 'mint', first: 1 }],
      ['B', { icecream: 'vanilla', first: 1, session: 's' }],
      ['C', {}],
    ]);
  });

  it('group: an event', () => {
    createPostHog(outbox).group('company', 'company_1', { name: 'Acme' });
    expect(bodies()).toEqual([
      ['Group Joined', { type: 'company', key: 'company_1', name: 'Acme' }],
    ]);
  });

  it('opt_out_capturing and opt_in_capturing: the consent of the visitor', () => {
    const posthog = createPostHog(outbox);
    posthog.opt_out_capturing();
    posthog.capture('A');
    expect(posthog.has_opted_out_capturing()).toBe(true);
    posthog.opt_in_capturing();
    posthog.capture('B');
    expect(posthog.has_opted_in_capturing()).toBe(true);
    expect(bodies()).toEqual([['B', {}]]);
  });
});

describe('taking over the snippet of PostHog', () => {
  type Snippet = unknown[] & Record<string, (...args: unknown[]) => unknown>;
  const page = globalThis as unknown as Record<string, Snippet>;
  afterEach(() => void delete page['posthog']);

  /** A list of calls with methods that add to it, as the snippet makes it. */
  const openSnippet = (...names: string[]): Snippet => {
    const list = Object.assign([], { _i: [], __SV: 1 }) as unknown as Snippet;
    for (const name of names) list[name] = (...args) => list.push([name, ...args]);
    return (page['posthog'] = list);
  };

  it('makes the calls that wait, in order, and those to come by whatever was kept', () => {
    const snippet = openSnippet('capture', 'identify', 'register', 'onFeatureFlags');
    const { capture } = snippet;
    snippet['register']!({ plan: 'pro' });
    snippet['identify']!('u1');
    capture!('A');
    snippet['onFeatureFlags']!(() => undefined);
    takeOverPostHog(outbox);
    capture!('B');
    page['posthog']!['capture']!('C');
    page['posthog']!['onFeatureFlags']!(() => undefined);
    page['posthog']!.push(['capture', 'D']);
    expect(outbox.events().map(({ event, tags, user_id }) => [event, tags, user_id])).toEqual(
      ['A', 'C', 'D']
        .map((name) => [name, { plan: 'pro' }, 'u1'])
        .toSpliced(1, 0, ['B', { plan: 'pro' }, 'u1']),
    );
    expect(outbox.drops()).toMatchObject(
      Array(2).fill({ reason: 'not-supported', message: 'onFeatureFlags has no counterpart' }),
    );
    expect(page['posthog']).toHaveLength(0);
  });

  it('makes the global where there is none, and leaves anything else alone', () => {
    takeOverPostHog(outbox).capture('A');
    expect(bodies()).toEqual([['A', {}]]);
    const loaded = { capture: () => undefined } as never;
    page['posthog'] = loaded;
    expect(() => takeOverPostHog(outbox)).toThrow(TypeError);
    expect(page['posthog']).toBe(loaded);
    expect(Object.keys(loaded)).toEqual(['capture']);
  });
});
