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

it('says how many answers there were, how many of them are kept to look at, and which', () => {
  const refusedHours = [
    { hour: '2026-03-20T12:00:00.000Z', reason: 'token', n: 1_200 },
    { hour: '2026-03-20T13:00:00.000Z', reason: 'token', n: 4 },
    { hour: '2026-03-20T13:00:00.000Z', reason: 'database', n: 2 },
  ] as const;
  const given: Partial<FeedState> = {
    ...{ refused: [2, 1].map(letter), resent: new Map(), isReady: true, refusedHours },
  };
  const feed: Partial<Feed> = { now: Date.now };
  render(h(RefusedView, { feed: feed as Feed, state: given as FeedState }), document.body);
  const text = document.body.textContent;
  expect(text).toContain('1,206 answers refused a request or record in the last 30 days');
  expect(text).toContain('2 refusals are kept to look at:');
  const buttons = [...document.querySelectorAll('.reasons button')];
  expect(buttons.map(({ textContent }) => textContent.replace(/\s+/g, ' '))).toEqual([
    'All 2 of 1,206',
    'Token not accepted 0 of 1,204',
    'The database refuses this record 2',
  ]);
  expect(buttons.map((button) => (button as HTMLButtonElement).disabled)).toEqual([
    ...[false, true, false],
  ]);
});

it.each([
  ['that it was counted, where nothing was refused', [], '0 answers refused a request or record'],
  ['nothing before it was counted', undefined, 'Counting …'],
])('says %s', (_, refusedHours, words) => {
  const given = { refused: [], resent: new Map(), isReady: true, refusedHours };
  const feed: Partial<Feed> = { now: Date.now };
  render(
    h(RefusedView, { feed: feed as Feed, state: given as unknown as FeedState }),
    document.body,
  );
  expect(document.querySelector('h2')!.textContent).toContain(words);
});
