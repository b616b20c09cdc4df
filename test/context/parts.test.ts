// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/cart;jsessionid=1?utm_source=here" }
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { anonymousId, campaign, combine, device, page, session } from '../../src/context.js';
import { createAnalytics } from '../../src/testing.js';

const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
  sessionStorage.clear();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const start = (...parts: Parameters<typeof combine>[1][]) => {
  const analytics = createAnalytics();
  const context = combine(analytics, ...parts);
  analytics.init({ relay: '/a', project: 'shop', channel: 'web', context });
  const tagsOf = (tags?: object) => {
    analytics.event('Any', { tags: tags ?? {} });
    return { ...analytics.events().at(-1)!.tags } as Record<string, unknown>;
  };
  return { analytics, tagsOf };
};
const opened = (name: string) =>
  vi.spyOn(performance, 'getEntriesByType').mockReturnValue([{ name } as never]);

describe('a session', () => {
  it('is neither begun nor ended by an event that brings its own', () => {
    const { tagsOf } = start(session());
    const first = tagsOf();
    vi.advanceTimersByTime(31 * MINUTE);
    expect(tagsOf(first)).toEqual(first);
    const second = tagsOf();
    expect(second).toMatchObject({ session_number: 2 });
    vi.advanceTimersByTime(20 * MINUTE);
    expect(tagsOf(first)).toEqual(first);
    vi.advanceTimersByTime(20 * MINUTE);
    expect(tagsOf()).toEqual(second);
  });

  it('ends with a reset, and so does a campaign', () => {
    opened('https://shop.example/?utm_source=news');
    const { analytics, tagsOf } = start(session(), campaign());
    const before = tagsOf();
    expect(before).toMatchObject({ session_number: 1, utm_source: 'news' });
    analytics.reset();
    const after = tagsOf();
    expect(after['session_id']).not.toBe(before['session_id']);
    expect(Object.keys(after)).toEqual(['session_id', 'session_number']);
    expect(after['session_number']).toBe(1);
    expect(Object.values({ ...sessionStorage }).join()).not.toContain('news');
  });
});

it('ties a visitor to the user whom the page has named, of whom `beforeSend` sends something else', async () => {
  const analytics = createAnalytics();
  analytics.init({
    ...{ relay: '/a', project: 'shop', channel: 'web' },
    context: combine(analytics, anonymousId('tab')),
    beforeSend: (draft) => {
      const { user_id } = draft.body;
      if (user_id) draft.body.user_id = `hash of ${user_id}`;
      return draft;
    },
  });
  analytics.identify('u1');
  analytics.identify('u2');
  await Promise.resolve();
  expect(analytics.events('Identified').map(({ user_id }) => user_id)).toEqual([
    'hash of u1',
    'hash of u2',
  ]);
});

it('is asked with the tags of the call, which may say where it was made', () => {
  const { tagsOf } = start(page());
  document.title = 'Cart';
  expect(tagsOf()).toEqual({ path: '/cart', title: 'Cart' });
  expect(tagsOf({ path: '/before', title: 'Before' })).toEqual({
    path: '/before',
    title: 'Before',
  });
});

it('has page, device and the campaign by which the page was opened, which stays in the tab', () => {
  document.title = 'Cart';
  const { language } = navigator;
  const here = { path: '/cart', title: 'Cart', device: 'desktop', width: innerWidth, language };
  const first = { first_utm_source: 'news', first_gclid: 'g1' };
  // A router has cleaned the address since.
  const tagsOf = (query: string) => {
    opened(`https://shop.example/${query}`);
    return start(page(), campaign(), device()).tagsOf();
  };
  const news = { ...here, ...first, utm_source: 'news', gclid: 'g1' };
  expect(tagsOf('?utm_source=news&gclid=g1&secret=1')).toEqual(news);
  expect(tagsOf('')).toEqual(news);
  expect(tagsOf('#/sale?utm_source=ads')).toEqual({ ...here, ...first, utm_source: 'ads' });
  expect(Object.keys({ ...sessionStorage })).toEqual(['analytics-outbox campaign']);
  sessionStorage.clear();
  // An old browser does not know it.
  vi.spyOn(performance, 'getEntriesByType').mockReturnValue([]);
  expect(start(campaign()).tagsOf()).toEqual({ first_utm_source: 'here', utm_source: 'here' });
});
