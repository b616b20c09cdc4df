// @vitest-environment happy-dom
import { h, render } from 'preact';
import { expect, it } from 'vitest';
import type { Feed, FeedState } from '../../../src/server/rows/page/state/feed.js';
import { Live } from '../../../src/server/rows/page/views/top-bar.js';

const feed = { now: Date.now, holds: () => false } as unknown as Feed;
const quiet = {
  ...{ connection: { kind: 'open' }, isReady: true, rate: { current: () => 0 } },
  kept: { shown: [] },
};

it.each([
  ['nothing yet', 'where there is no row', 0],
  ['no row matches', 'where the filters leave none of the rows', 212],
])('says `%s` %s', (words, _, total) => {
  const state = { ...quiet, total } as unknown as FeedState;
  render(h(Live, { feed, state }), document.body);
  expect(document.querySelector('.more')!.textContent).toBe(words);
});
