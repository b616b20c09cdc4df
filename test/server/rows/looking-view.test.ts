// @vitest-environment happy-dom
import { h, render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, it, vi } from 'vitest';
import { forgetAnswers } from '../../../src/server/rows/page/state/answers.js';
import type { Feed, FeedState } from '../../../src/server/rows/page/state/feed.js';
import { NO_FILTERS, type Filters } from '../../../src/server/rows/page/state/filters.js';
import { NOTHING_SEEN } from '../../../src/server/rows/page/state/seen.js';
import { EventPanel } from '../../../src/server/rows/page/views/event-panel.js';
import { FilterBar } from '../../../src/server/rows/page/views/filter-bar.js';
import { Searching } from '../../../src/server/rows/page/views/searching.js';
import { UsersView } from '../../../src/server/rows/page/views/users-view.js';
import { spanOf } from '../../../src/server/rows/page/state/overview.js';

const NOW = new Date(2026, 2, 20, 12).getTime();
const looked = { place: 5, is_all: false, since: new Date(2026, 2, 12, 9, 30).toISOString() };
const text = () => document.body.textContent.replaceAll(/\s+/g, ' ');

/** Answers requests by their paths, and says which there were. */
const answering = (answerOf: (path: string) => unknown) => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    return Response.json(answerOf(path));
  });
  return asked;
};

afterEach(async () => {
  await act(() => render(null, document.body)); // with all that its views have listened to
  vi.unstubAllGlobals();
});

it('says of how many rows a count is known, and how far back they go', async () => {
  const count = { rows: 199_080, is_exact: false };
  answering(() => ({
    ...count,
    filters: [
      { name: 'event', value: 'Signed Up', rows: 250_000, is_exact: true },
      { name: 'tag', value: 'plan=pro', ...count },
      { name: 'mine', value: '1', rows: 7, is_exact: true },
    ],
    looked: { ...looked, rows: 1_780_000 },
  }));
  const filters: Filters = { ...NO_FILTERS, event: ['Signed Up'], tag: ['plan=pro'], mine: true };
  const feed = { now: () => NOW } as Feed;
  const bar = (isReady: boolean) => h(FilterBar, { feed, filters, seen: NOTHING_SEEN, isReady });
  render(bar(false), document.body);
  // The rows come first.
  expect(text()).toContain('counting …');
  render(bar(true), document.body);
  await vi.waitUntil(() => !text().includes('counting'));
  expect(text()).toContain('event Signed Up 250,000 rows');
  expect(text()).toContain('tag plan=pro 199,080+ rows');
  expect(text()).toContain('only this browser 7 rows');
  expect(text()).toMatch(/199,080 in the newest 1,780,000 rows \(back to .*09:30:00\)/);
});

it('draws days that are not loaded apart from days without rows', async () => {
  const user = { project: 'p', user_id: 'u', last_seen: new Date(NOW).toISOString() };
  const days = [null, null, ...Array.from({ length: 11 }, () => 0), 3];
  const asked = answering((path) =>
    path.startsWith('users')
      ? { users: [{ ...user, rows: 10_000, days }] }
      : { users: 4, looked: { ...looked, rows: 9 } },
  );
  const feed = { now: () => NOW } as Feed;
  render(h(UsersView, { feed, state: { seen: NOTHING_SEEN } as FeedState }), document.body);
  await vi.waitUntil(() => document.querySelector('tbody tr'));
  const [query] = asked.filter((path) => path.startsWith('users?'));
  const given = new URLSearchParams(query!.slice(6)).getAll('day');
  expect(given).toHaveLength(15);
  expect(given[13]).toBe(new Date(2026, 2, 20).toISOString());
  const kinds = [...document.querySelectorAll('.heat i')].map(({ className }) => className);
  expect(kinds).toEqual(['unknown', 'unknown', ...Array.from({ length: 11 }, () => 'none'), '']);
  expect(document.querySelector('.heat')!.getAttribute('aria-label')).toBe(
    '1 day with rows, 2 not loaded',
  );
  expect(text()).toContain('10,000+');
  expect(text()).toContain('never identified');
  await vi.waitUntil(() => text().includes('4+ seen in 24 hours'));
});

it('goes on until a page of users is full or nobody is left, and says how far it came', async () => {
  const user = { project: 'p', last_seen: new Date(NOW).toISOString(), rows: 1, days: [] };
  let answers = 0;
  forgetAnswers(); // those of the test before
  const asked = answering((path) => {
    if (!path.startsWith('users')) return { users: 0, looked: { ...looked, rows: 0 } };
    const users = [{ ...user, user_id: `u${++answers}` }];
    return { users, looked, ...(answers < 3 && { next: `[9,${answers}]` }) };
  });
  const feed = { now: () => NOW } as Feed;
  render(h(UsersView, { feed, state: { seen: NOTHING_SEEN } as FeedState }), document.body);
  await vi.waitUntil(() => document.querySelectorAll('tbody tr').length === 3);
  const pages = asked.filter((path) => path.startsWith('users?'));
  const given = pages.map((path) => new URLSearchParams(path.slice(6)));
  expect(given.map((query) => query.get('after'))).toEqual([null, '[9,1]', '[9,2]']);
  expect(given.map((query) => query.get('limit'))).toEqual(['50', '49', '48']);
  await vi.waitUntil(() => !text().includes('Searching'));
});

it('says that it searches, how far back, and offers to stop', () => {
  let stopped = 0;
  const feed = { now: () => NOW, stopSearch: () => stopped++ } as unknown as Feed;
  const show = (state: Partial<FeedState>): string => {
    const filters = { ...NO_FILTERS, text: 'x' };
    const all = { filters, isReady: true, older: 'idle', ...state } as FeedState;
    render(h(Searching, { feed, state: all }), document.body);
    return text();
  };
  const back = { looked: { ...looked, below: undefined } };
  expect(show({ isReady: false })).toContain('Searching');
  expect(show({ ...back, older: 'loading' })).toMatch(/Searching back to .*09:30:00 …/);
  document.querySelector('button')!.click();
  expect(stopped).toBe(1);
  expect(show({ ...back, older: 'stopped' })).toMatch(/Stopped. Searched back to .*09:30:00/);
  expect(show(back)).toBe('');
  expect(show({ ...back, older: 'loading', filters: NO_FILTERS })).toBe('');
});

it('lets no value be pressed that no filter can ask for', async () => {
  const span = spanOf('24h', NOW);
  const values = [
    { value: '<img src=x>', rows: 2 },
    { value: 'x'.repeat(256), rows: 1, is_part: true },
    { value: '', rows: 1 },
  ];
  answering(() => ({
    ...{ rows: 4, hours: [], is_exact: true, users: 3, names: ['t'] },
    ...{ tags: [{ tag: 't', values, others: 5 }], looked: { ...looked, rows: 4, is_all: true } },
  }));
  const filtered: Filters[] = [];
  const feed = { now: () => NOW, filter: (filters: Filters) => filtered.push(filters) };
  const panel = {
    ...{ feed: feed as unknown as Feed, event: 'E', project: 'p', range: 'the last 24 hours' },
    ...{ span, now: NOW, timeOf: String, hue: 0 },
  };
  render(h(EventPanel, panel), document.body);
  await vi.waitUntil(() => document.querySelector('.values li'));
  const buttons = [...document.querySelectorAll<HTMLElement>('.values button')];
  expect(buttons.map(({ textContent }) => textContent)).toEqual(['<img src=x>', 'empty']);
  expect(document.querySelector('.values img')).toBeNull();
  expect(text()).toContain('all others');
  buttons[0]!.click();
  expect(filtered).toMatchObject([{ project: 'p', event: ['E'], tag: ['t=<img src=x>'] }]);
});
