// @vitest-environment happy-dom
import { h, render } from 'preact';
import { expect, it } from 'vitest';
import type { Feed, FeedState } from '../../../src/server/rows/page/state/feed.js';
import { NO_FILTERS, type Filters } from '../../../src/server/rows/page/state/filters.js';
import { addSeen, NOTHING_SEEN } from '../../../src/server/rows/page/state/seen.js';
import { FilterBar } from '../../../src/server/rows/page/views/filter-bar.js';
import { NoMatch } from '../../../src/server/rows/page/views/no-match.js';

const feed = {} as Feed;
const ofQueue = { project: 'shop', event: 'Paid' };
const ofBrowser = { ...ofQueue, client: 'a word' };
const mine: Filters = { ...NO_FILTERS, mine: true };

it.each([
  ['while no row names one, as behind a queue', [ofQueue], NO_FILTERS, false],
  ['as soon as a row names one', [ofQueue, ofBrowser], NO_FILTERS, true],
  ['where it is on', [ofQueue], mine, true],
])('offers the rows of this browser %s: %#', (_, rows, filters, isOffered) => {
  render(
    h(FilterBar, { feed, filters, isReady: true, seen: addSeen(NOTHING_SEEN, rows) }),
    document.body,
  );
  expect(document.body.textContent.includes('Only this browser')).toBe(isOffered);
});

it('says of which rows nobody knows the browser where none is found', () => {
  const words = (filters: Filters): string => {
    const state = { filters, total: 3 } as FeedState;
    render(h(NoMatch, { feed, state }), document.body);
    return document.body.textContent;
  };
  expect(words(mine)).toContain('through a queue');
  expect(words({ ...NO_FILTERS, text: 'x' })).not.toContain('through a queue');
});
