// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/", "settings": { "navigation": { "disableMainFrameNavigation": true } } }
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  beginAtHome,
  capture,
  go,
  hide,
  mockDocument,
  pass,
  SESSION,
  show,
} from '../support/captured.js';

beginAtHome();
beforeEach(() => {
  vi.spyOn(document.documentElement, 'clientHeight', 'get').mockReturnValue(500);
  vi.spyOn(document.documentElement, 'scrollHeight', 'get').mockReturnValue(1_000);
});

const realTimeout = globalThis.setTimeout;
/** Settles when observers of the document have been called: happy-dom calls them by a timer that is not faked. */
const observed = () => new Promise((done) => realTimeout(done));

const onLCP = (report: (metric: { name: string; value: number }) => void) =>
  report({ name: 'LCP', value: 1 });
const views = ({ tags }: ReturnType<typeof capture>) =>
  tags('Page Viewed').map(({ path, title }) => [path, title]);

it('begins outside of the zone in which a router of Angular changes the address', () => {
  const captured = capture({ pageviews: true });
  let isOutside = false;
  const run = (work: () => unknown) => {
    const before = isOutside;
    isOutside = true;
    work();
    isOutside = before;
  };
  vi.stubGlobal('Zone', { root: { run } });
  const timers: boolean[] = [];
  const { setTimeout } = globalThis;
  const set = (...args: Parameters<typeof setTimeout>) => {
    timers.push(isOutside);
    return setTimeout(...args);
  };
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(set as never);
  history.pushState({}, '', '/next');
  spy.mockRestore();
  vi.unstubAllGlobals();
  expect(timers.length).toBeGreaterThan(0);
  expect(timers).not.toContain(false);
  captured.stop();
});

it('names who was there as the route was shown', () => {
  const { analytics } = capture({ pageviews: true });
  pass(100);
  go('/login');
  analytics.identify('u');
  go('/account');
  analytics.reset();
  hide();
  const views = analytics.events('Page Viewed');
  expect(views.map(({ tags, user_id }) => [tags, user_id])).toMatchObject([
    [{ path: '/' }, undefined],
    [{ path: '/login' }, undefined],
    [{ path: '/account' }, 'u'],
  ]);
});

it('takes hashes for routes where that is asked for, without what they are given', () => {
  history.replaceState({}, '', '#/items?secret=1');
  const { tags } = capture({ pageviews: { hash: true } });
  pass(100);
  for (const hash of [
    '#/items?secret=2',
    '#/items/lamp',
    '#top',
    '#/token=secret',
    '#/account&token=secret',
  ]) {
    go(hash, hash);
    pass(100);
  }
  expect(tags('Page Viewed').map(({ path, referrer }) => [path, referrer])).toEqual([
    ['/#/items', undefined],
    ['/#/items/lamp', 'https://shop.example/#/items'],
    ['/', 'https://shop.example/#/items/lamp'],
    ['/#/token', 'https://shop.example/'],
    ['/#/account', 'https://shop.example/#/token'],
  ]);
});

describe('the title of a view', () => {
  it('is waited for, for two seconds', () => {
    const captured = capture({ pageviews: true });
    pass(100);
    for (const [path, title, late] of [
      ['/soon', 'Soon', 20],
      ['/late', 'Late', 1_900],
    ] as const) {
      go(path);
      pass(late);
      document.title = title;
      pass(200);
    }
    expect(views(captured)).toEqual([
      ['/', 'Home'],
      ['/soon', 'Soon'],
      ['/late', 'Late'],
    ]);
  });

  it('is left out where none comes though the site has others, and kept where all have the same', () => {
    const captured = capture({ pageviews: true });
    pass(100);
    go('/same');
    pass(2_200);
    expect(views(captured)[1]).toEqual(['/same', 'Home']);
    go('/own', 'Own');
    pass(100);
    go('/none');
    pass(2_200);
    document.title = 'Too late';
    go('/next');
    pass(500);
    document.title = 'Next';
    pass(100);
    expect(views(captured).slice(2)).toEqual([
      ['/own', 'Own'],
      ['/none', undefined],
      ['/next', 'Next'],
    ]);
  });

  it('that is set again once the view has settled is not that of the next view', async () => {
    const captured = capture({ pageviews: true });
    pass(100);
    go('/own', 'Own');
    pass(100);
    for (const [path, ms] of [
      ['/waits', 2_200],
      ['/goes on', 10],
    ] as const) {
      go(`/twice before ${path.slice(1)}`, 'Loading');
      pass(100);
      document.title = 'Twice';
      await observed();
      pass(200);
      go(path);
      pass(ms);
    }
    hide();
    expect(views(captured).slice(2)).toEqual([
      ['/twice%20before%20waits', 'Loading'],
      ['/waits', undefined],
      ['/twice%20before%20goes%20on', 'Loading'],
      ['/goes%20on', undefined],
    ]);
  });

  it('may be set before the address, and then counts for the next view', () => {
    const captured = capture({ pageviews: true });
    pass(100);
    for (const path of ['/a', '/b', '/c']) {
      document.title = path;
      go(path);
      pass(50);
    }
    hide();
    expect(views(captured)).toEqual([
      ['/', 'Home'],
      ['/a', '/a'],
      ['/b', '/b'],
      ['/c', '/c'],
    ]);
  });

  it('is settled at once as the next route comes, or the page is hidden', () => {
    const captured = capture({ pageviews: true });
    go('/a', 'A');
    go('/b', 'B');
    hide();
    expect(views(captured)).toEqual([
      ['/', 'Home'],
      ['/a', 'A'],
      ['/b', 'B'],
    ]);
  });

  it('of web vitals is the one that their own view has settled with', () => {
    const captured = capture({ vitals: { onLCP } });
    document.title = 'Loaded';
    pass(100);
    go('/a', 'A');
    pass(100);
    hide();
    expect(captured.tags()).toEqual([{ path: '/', title: 'Loaded', lcp: 1 }]);
  });
});

describe('a redirect', () => {
  it('takes the place of the view that waits, and its referrer', () => {
    const captured = capture({ pageviews: true, engagement: true });
    pass(100);
    go('/old');
    history.replaceState({}, '', '/login');
    pass(50);
    document.title = 'Login';
    pass(1_000);
    history.replaceState({}, '', '/other');
    hide();
    expect(captured.names()).toEqual([
      'Page Viewed',
      'Page Left',
      'Page Viewed',
      'Page Left',
      'Page Viewed',
      'Page Left',
    ]);
    expect(captured.tags('Page Viewed')).toMatchObject([
      { path: '/' },
      { path: '/login', title: 'Login', referrer: 'https://shop.example/' },
      { path: '/other', referrer: 'https://shop.example/login' },
    ]);
    expect(captured.tags('Page Left')).toMatchObject([
      { path: '/', title: 'Home', seconds: 0 },
      { path: '/login', title: 'Login', seconds: 1 },
      { path: '/other', seconds: 0 },
    ]);
  });
});

describe('the past', () => {
  it('belongs to the session, path and title of its view, and begins nothing', () => {
    const { tags } = capture({ pageviews: true, engagement: true, vitals: { onLCP } }, SESSION);
    pass(60_000);
    document.title = 'Changed since';
    pass(31 * 60_000);
    hide();
    const [view] = tags('Page Viewed');
    const { session_id } = view!;
    expect(view).toMatchObject({ path: '/', title: 'Home', session_number: 1 });
    expect(tags('Web Vitals')).toMatchObject([
      { path: '/', title: 'Home', session_id, session_number: 1 },
    ]);
    expect(tags('Page Left')).toMatchObject([
      { path: '/', title: 'Home', session_id, session_number: 1 },
    ]);
    show();
    pass(5_000);
    go('/b', 'B');
    pass(100);
    const [first, second] = tags('Page Left');
    expect(second).toEqual({ ...first, seconds: 5 });
    expect(tags('Page Viewed')[1]).toMatchObject({ path: '/b', session_number: 2 });
  });

  it('takes the session from whichever event its view had first', () => {
    const { analytics, tags } = capture({ engagement: true }, SESSION);
    analytics.event('Own');
    pass(31 * 60_000);
    hide();
    expect(tags('Page Left')).toMatchObject([
      { session_id: tags('Own')[0]!['session_id'], session_number: 1 },
    ]);
    show();
    analytics.event('Own');
    expect(tags('Own')[1]).toMatchObject({ session_number: 2 });
  });

  it('keeps what is left of a second for the next time, and a look that adds nothing makes no event', () => {
    const { tags } = capture({ engagement: true });
    hide();
    for (let look = 0; look < 60; look++) {
      show();
      pass(120);
      hide();
    }
    const seconds = tags().map(({ seconds }) => Number(seconds));
    expect(seconds.reduce((sum, one) => sum + one)).toBe(7);
    expect(seconds).toHaveLength(8);
  });

  it('carries what is left of a second over to the next route', () => {
    const { tags } = capture({ engagement: true });
    for (let route = 1; route <= 30; route++) {
      pass(400);
      go(`/${route}`);
    }
    const seconds = tags().map(({ seconds }) => Number(seconds));
    expect(seconds.reduce((sum, one) => sum + one)).toBe(12);
    expect(new Set(seconds)).toEqual(new Set([0, 1]));
  });

  it('is not told of a page that was never shown', () => {
    hide();
    const { tags } = capture({ engagement: true });
    pass(5_000);
    window.dispatchEvent(new Event('pagehide'));
    go('/b');
    expect(tags()).toEqual([]);
  });
});

it('records a prerendered page once it is shown', () => {
  mockDocument('prerendering', true);
  const captured = capture({ pageviews: true });
  go('/shown');
  pass(5_000);
  expect(captured.names()).toEqual([]);
  mockDocument('prerendering', false);
  document.dispatchEvent(new Event('prerenderingchange'));
  hide();
  expect(views(captured)).toEqual([['/shown', 'Home']]);
});

describe('a page that is left before it has loaded', () => {
  const say = (type: string) => window.dispatchEvent(new Event(type));

  it('tells all at `beforeunload`, once, and goes on where it stays', () => {
    mockDocument('readyState', 'interactive');
    const { names, tags } = capture({ pageviews: true, engagement: true, vitals: { onLCP } });
    pass(2_000);
    say('beforeunload');
    const all = ['Page Viewed', 'Web Vitals', 'Page Left'];
    expect(names()).toEqual(all);
    hide();
    say('pagehide');
    expect(names()).toEqual(all);
    show();
    say('load');
    pass(3_000);
    // It has loaded: a listener would keep it out of the back/forward cache.
    say('beforeunload');
    expect(names()).toEqual(all);
    hide();
    expect(tags('Page Left').map(({ seconds }) => seconds)).toEqual([2, 3]);
  });

  it.each([
    ['a followed link', '<a href="/next">on</a>', 1],
    ['a link to a place of the page', '<a href="#place">on</a>', 0],
    ['a link that a router handles', '<a href="/next" class="route">on</a>', 0],
  ])('tells all at %s', (_, html, times) => {
    mockDocument('readyState', 'interactive');
    document.body.innerHTML = html;
    const { names } = capture({ engagement: true });
    pass(2_000);
    const handle = (event: Event) => event.preventDefault();
    document.querySelector('.route')?.addEventListener('click', handle);
    document.querySelector('a')!.click();
    pass(50);
    expect(names().filter((name) => name === 'Page Left')).toHaveLength(times);
  });

  it('does not listen to it in a page that has loaded', () => {
    const listen = vi.spyOn(window, 'addEventListener');
    const listenAll = vi.spyOn(EventTarget.prototype, 'addEventListener');
    capture({ engagement: true });
    const types = [...listen.mock.calls, ...listenAll.mock.calls].map(([type]) => type);
    expect(types).toContain('pagehide');
    expect(types).not.toContain('beforeunload');
  });
});

describe('the address', () => {
  it('is looked at where no listener hears of its changes', () => {
    const push = Object.getPrototypeOf(history).pushState.bind(history);
    const captured = capture({ pageviews: true });
    pass(100);
    push({}, '', '/bound');
    document.title = 'Bound';
    pass(2_700);
    expect(views(captured)).toEqual([
      ['/', 'Home'],
      ['/bound', 'Bound'],
    ]);
    captured.stop();
    push({}, '', '/after');
    pass(3_000);
    expect(views(captured)).toHaveLength(2);
  });

  it('has the campaign by which the page was opened, although a router has cleaned it', () => {
    vi.spyOn(performance, 'getEntriesByType').mockReturnValue([
      { name: 'https://shop.example/?utm_source=news&secret=1' } as never,
    ]);
    const { tags } = capture({ pageviews: true });
    pass(100);
    go('/b?utm_source=inside', 'B');
    pass(100);
    expect(tags()).toMatchObject([{ utm_source: 'news' }, { utm_source: 'inside' }]);
  });

  it.each([
    ['/#/sale?utm_source=news', {}],
    ['/#!/sale?secret=1&utm_source=news', { hash: true }],
    ['/#utm_source=news', {}],
    ['/?secret=1&amp;utm_source=news', {}],
    ['/?secret=1#utm_source=news?utm_source=news', {}],
  ])('has the campaign of %s, with %j', (address, pageviews) => {
    vi.spyOn(performance, 'getEntriesByType').mockReturnValue([
      { name: `https://shop.example${address}` } as never,
    ]);
    const { tags } = capture({ pageviews });
    pass(100);
    expect(tags()).toMatchObject([{ utm_source: 'news' }]);
    expect(JSON.stringify(tags())).not.toContain('secret');
  });

  it('is cut where a router makes an address without end', () => {
    const { tags } = capture({ pageviews: { hash: true } });
    pass(100);
    go(`/${'x'.repeat(70_000)}?utm_source=${'y'.repeat(70_000)}`, 'B');
    go(`/b#/${'x'.repeat(70_000)}`, 'C');
    pass(3_000);
    expect(tags().slice(1)).toMatchObject([
      { path: `/${'x'.repeat(998)}…`, utm_source: `${'y'.repeat(999)}…` },
      { path: `/b#/${'x'.repeat(995)}…` },
    ]);
  });

  it('has no live session in it', () => {
    history.replaceState({}, '', '/cart;jsessionid=1?a=2');
    const { tags } = capture({ pageviews: true });
    hide();
    expect(tags()).toEqual([{ path: '/cart', host: 'shop.example', title: 'Home' }]);
  });
});

describe('an odd page', () => {
  it('is captured although elements have the names of members of the document', () => {
    const form = document.createElement('form');
    const names = ['title', 'referrer', 'visibilityState', 'readyState', 'baseURI', 'prerendering'];
    const methods = ['addEventListener', 'querySelectorAll', 'createTreeWalker', 'documentElement'];
    for (const name of [...names, ...methods, 'currentScript', 'removeEventListener']) {
      Object.defineProperty(document, name, { value: form, configurable: true });
    }
    try {
      const { names, stop } = capture({
        pageviews: true,
        clicks: { text: true },
        engagement: true,
      });
      pass(100);
      hide();
      expect(names()).toEqual(['Page Viewed', 'Page Left']);
      stop();
    } finally {
      for (const name of [...names, ...methods, 'currentScript', 'removeEventListener']) {
        Reflect.deleteProperty(document, name);
      }
    }
  });

  it('loses one feature and not the others where one cannot start', () => {
    vi.stubGlobal('IntersectionObserver', undefined);
    const { names } = capture({ pageviews: true, clicks: true, engagement: true, errors: true });
    pass(100);
    hide();
    expect(names()).toEqual(['Page Viewed', 'Page Left']);
    vi.unstubAllGlobals();
  });
});
