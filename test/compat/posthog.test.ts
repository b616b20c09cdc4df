// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing;jsessionid=1A?utm=a" }
import { describe, expect, it } from 'vitest';
import { createPostHog, takeOverPostHog } from '../../src/compat-posthog.js';
import { bodies, outbox, page, PAGE, refused, users } from './bench.js';

// Each row of the page for those who come from there is run as well: `test/migration.test.ts`.
describe('the calls of PostHog', () => {
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

  it('people.set: the properties of the user, by name or as an object', () => {
    const posthog = createPostHog(outbox);
    posthog.identify('u1');
    posthog.people.set({ plan: 'pro' });
    posthog.people.set('seats', 3);
    posthog.people.set_once({ first: 1 });
    posthog.capture('paid', { $set_once: { first: 1 } }, { $set: { plan: 'free' } });
    expect(users()).toEqual([
      ['u1', {}],
      ['u1', { plan: 'pro' }],
      ['u1', { seats: 3 }],
      ['u1', { plan: 'free' }],
    ]);
    expect(bodies()).toEqual([['paid', {}]]);
    expect(outbox.drops()).toEqual(refused('people.set_once'));
  });

  it.each(['$current_url', '$pathname'])('takes the path from `%s`, which masks ids', (key) => {
    const posthog = createPostHog(outbox);
    posthog.capture('$pageview', {
      [key]: `${key === '$pathname' ? '' : 'https://shop.example'}/users/:id?q=secret`,
      $referrer: 'https://a.example/?q=secret',
    });
    posthog.capture('paid', { [key]: '/users/:id' });
    expect(bodies()).toEqual([
      ['Page Viewed', { ...PAGE, path: '/users/:id', referrer: 'https://a.example/' }],
      ['paid', { path: '/users/:id' }],
    ]);
  });

  it('get_property, is_capturing, get_explicit_consent_status: what is known', () => {
    const posthog = createPostHog(outbox);
    posthog.register({ team: 'a' });
    posthog.register_for_session({ tab: 1 });
    expect([posthog.get_property('team'), posthog.getSessionProperty('tab')]).toEqual(['a', 1]);
    posthog.unregister_for_session('tab');
    expect(posthog.getSessionProperty('tab')).toBeUndefined();
    expect([posthog.is_capturing(), posthog.get_explicit_consent_status()]).toEqual([
      true,
      'granted',
    ]);
    posthog.opt_out_capturing();
    expect([posthog.is_capturing(), posthog.get_explicit_consent_status()]).toEqual([
      false,
      'denied',
    ]);
  });

  it('init: calls `loaded`, and answers with the same calls', async () => {
    const loaded = await new Promise<unknown>((loaded) => {
      createPostHog(outbox).init('KEY', { loaded }).capture('A');
    });
    (loaded as ReturnType<typeof createPostHog>).capture('B');
    createPostHog(outbox).init();
    expect(bodies()).toEqual([
      ['A', {}],
      ['B', {}],
    ]);
  });

  it('push: a call of the snippet', () => {
    createPostHog(outbox).push(['capture', 'A']);
    createPostHog(outbox).push(['no such method']);
    expect(bodies()).toEqual([['A', {}]]);
    expect(outbox.drops()).toEqual(refused('no such method'));
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
  const posthog = () => page['posthog'] as Snippet;

  /** A list of calls with methods that add to it, as the snippet makes it. */
  const openSnippet = (...names: string[]): Snippet => {
    const list = Object.assign([], { _i: [], __SV: 1 }) as unknown as Snippet;
    for (const name of names) list[name] = (...args) => list.push([name, ...args]);
    page['posthog'] = list;
    return list;
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
    posthog()['capture']!('C');
    posthog()['onFeatureFlags']!(() => undefined);
    posthog().push(['capture', 'D']);
    expect(outbox.events().map(({ event, tags, user_id }) => [event, tags, user_id])).toEqual(
      ['A', 'C', 'D']
        .map((name) => [name, { plan: 'pro' }, 'u1'])
        .toSpliced(1, 0, ['B', { plan: 'pro' }, 'u1']),
    );
    expect(outbox.drops()).toEqual(refused('onFeatureFlags', 'onFeatureFlags'));
    expect(page['posthog']).toHaveLength(0);
  });

  it('makes the calls of `people` behind the others, which may say who it is', () => {
    const snippet = openSnippet('identify');
    const people = Object.assign([] as unknown[], {
      set: (...args: unknown[]) => people.push(['set', ...args]),
    });
    Object.assign(snippet, { people });
    const { set } = people;
    set({ plan: 'pro' });
    snippet['identify']!('u1');
    takeOverPostHog(outbox);
    set('seats', 3);
    people.set({ plan: 'free' });
    expect(users()).toEqual([
      ['u1', {}],
      ['u1', { plan: 'pro' }],
      ['u1', { seats: 3 }],
      ['u1', { plan: 'free' }],
    ]);
    expect(people).toHaveLength(0);
  });

  it('leaves what is no snippet alone', () => {
    const loaded = { capture: () => undefined } as never;
    page['posthog'] = loaded;
    expect(() => takeOverPostHog(outbox)).toThrow(TypeError);
    expect(page['posthog']).toBe(loaded);
    expect(Object.keys(loaded)).toEqual(['capture']);
  });
});
