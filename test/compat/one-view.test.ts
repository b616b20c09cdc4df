// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/", "settings": { "navigation": { "disableMainFrameNavigation": true } } }
import { beforeEach, describe, expect, it } from 'vitest';
import type { Analytics } from '../../src/client/types.js';
import { takeOverGtag } from '../../src/compat-gtag.js';
import { takeOverPlausible } from '../../src/compat-plausible.js';
import { takeOverPostHog } from '../../src/compat-posthog.js';
import { takeOverSegment } from '../../src/compat-segment.js';
import { takeOverUmami } from '../../src/compat-umami.js';
import { beginAtHome, capture, go, hide, mockDocument, pass } from '../support/captured.js';
import { page } from './bench.js';

beginAtHome();
beforeEach(() => mockDocument('readyState', 'loading'));

/** What a page does with each tool: its snippet, before the adapter's module has come, and each of its views. */
const TOOLS: Record<
  string,
  {
    snippet?: () => void;
    takeOver: (analytics: Analytics) => unknown;
    /** Undefined where the snippet, or the adapter, makes the first call by itself. */
    first?: () => unknown;
    view: (title: string) => unknown;
  }
> = {
  gtag: {
    snippet: () => (page['dataLayer'] = [['config', 'G-1', { page_title: 'Own' }]]),
    takeOver: takeOverGtag,
    view: (title) => (page['gtag'] as Call)('event', 'page_view', { page_title: title }),
  },
  PostHog: {
    snippet: () => (page['posthog'] = [['capture', '$pageview', { title: 'Own' }]]),
    takeOver: takeOverPostHog,
    view: (title) => (page['posthog'] as Calls)['capture']!('$pageview', { title }),
  },
  Segment: {
    snippet: () => (page['analytics'] = [['page', { title: 'Own' }]]),
    takeOver: takeOverSegment,
    view: (title) => (page['analytics'] as Calls)['page']!({ title }),
  },
  Umami: {
    takeOver: takeOverUmami,
    first: () => (page['umami'] as Calls)['track']!({ title: 'Own' }),
    view: (title) => (page['umami'] as Calls)['track']!({ title }),
  },
  Plausible: {
    snippet: () => {
      const q = [['pageview', { props: { title: 'Own' } }]];
      page['plausible'] = Object.assign(() => undefined, { q });
    },
    takeOver: takeOverPlausible,
    view: (title) => (page['plausible'] as Call)('pageview', { props: { title } }),
  },
};
type Call = (...args: unknown[]) => unknown;
type Calls = Record<string, Call>;

const viewsOf = ({ tags }: ReturnType<typeof capture>) =>
  tags('Page Viewed').map(({ path, title }) => [path, title]);

describe.each(Object.keys(TOOLS))('a page that was moved from %s', (tool) => {
  const { snippet, takeOver, first, view } = TOOLS[tool]!;

  it('has one row for each view that its code tells, with what that says', async () => {
    snippet?.();
    const captured = capture({ pageviews: true });
    pass(1_500); // the module is still on its way
    takeOver(captured.analytics);
    await first?.();
    mockDocument('readyState', 'complete');
    pass(3_000);
    go('/cart', 'Cart');
    await view('Own cart');
    pass(3_000);
    go('/paid', 'Paid');
    await view('Own paid');
    hide();
    expect(viewsOf(captured)).toEqual([
      ['/', 'Own'],
      ['/cart', 'Own cart'],
      ['/paid', 'Own paid'],
    ]);
  });

  it('has a row for each view that its code does not tell', () => {
    const captured = capture({ pageviews: true });
    takeOver(captured.analytics);
    mockDocument('readyState', 'complete');
    pass(100);
    go('/cart', 'Cart');
    pass(3_000);
    expect(viewsOf(captured)).toEqual([
      ['/', 'Home'],
      ['/cart', 'Cart'],
    ]);
  });
});

it('is not without its view if it is left, or goes on loading', () => {
  const captured = capture({ pageviews: true });
  pass(3_000);
  expect(viewsOf(captured)).toEqual([['/', 'Home']]);
  go('/cart', 'Cart');
  hide();
  expect(viewsOf(captured)).toHaveLength(2);
});
