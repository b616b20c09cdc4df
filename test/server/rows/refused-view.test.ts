// @vitest-environment happy-dom
import { h, render } from 'preact';
import { expect, it } from 'vitest';
import type { Feed, FeedState } from '../../../src/server/rows/page/state/feed.js';
import type { Resent } from '../../../src/server/rows/page/state/service.js';
import { RefusedView } from '../../../src/server/rows/page/views/refused-view.js';

const letter = (seq: number) => ({
  ...({ seq, received_at: new Date().toISOString(), reason: 'database', status: 422 } as const),
  ...({ message: 'value out of range', isDead: true } as const),
});

it('sends all dead letters again, those too that failed or were refused when they were sent again before', () => {
  const sent: (readonly number[])[] = [];
  const feed = { now: Date.now, resend: async (seqs: readonly number[]) => void sent.push(seqs) };
  const resent = new Map<number, Resent | 'sending' | 'failed'>([
    [1, { seq: 1, outcome: 'dead', message: 'still out of range' }],
    [2, 'failed'],
    [3, 'sending'],
    [4, { seq: 4, outcome: 'stored' }],
  ]);
  const state = {
    refused: [5, 4, 3, 2, 1].map(letter),
    resent,
    isReady: true,
  } as Partial<FeedState>;
  render(h(RefusedView, { feed: feed as Feed, state: state as FeedState }), document.body);
  const all = [...document.querySelectorAll('button')].find(({ textContent }) =>
    textContent.startsWith('Send all'),
  );
  expect(all?.textContent).toBe('Send all 3 dead letters again');
  all!.click();
  expect(sent).toEqual([[5, 2, 1]]);
});

it('offers nothing to send again to whoever reads one project alone', () => {
  const given: Partial<FeedState> = {
    ...{ refused: [2, 1].map(letter), resent: new Map(), isReady: true, onlyProject: 'shop' },
  };
  const feed: Partial<Feed> = { now: Date.now };
  render(h(RefusedView, { feed: feed as Feed, state: given as FeedState }), document.body);
  expect(document.body.textContent).toContain('2 refusals');
  const buttons = [...document.querySelectorAll('button')].map(({ textContent }) => textContent);
  expect(buttons.filter((text) => text.startsWith('Send'))).toEqual([]);
});
