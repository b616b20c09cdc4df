import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRequests } from '../../../src/client/delivery/requests.js';
import { KEEPALIVE_BUDGET } from '../../../src/client/delivery/send/post.js';
import type { Answer, Send } from '../../../src/client/delivery/send/sender.js';
import type { Settings } from '../../../src/client/options.js';
import { createEntry, createParcel, type Entry } from '../../../src/client/outbox/parcel.js';

beforeEach(() => void vi.stubGlobal('window', new EventTarget()));
afterEach(() => void vi.unstubAllGlobals());

const parcel = createParcel([0, 'maker', 1], 'no');
const entryOf = (id: string, bytes = 2): Entry =>
  createEntry({ id, type: 'event', body: 'x'.repeat(bytes), at: 0, attempts: 0 }, parcel, 1);
const DELIVERED: Answer = { outcome: 'delivered', status: 200, retryAfterMs: 0, problem: '' };

const open = () => {
  const answers: ((attempts?: Answer[]) => void)[] = [];
  const asked: Parameters<Send>[1][] = [];
  const requests = createRequests(
    () => ({ timeout: 30_000 }) as Settings,
    (_, how) => {
      asked.push(how);
      return new Promise((answer) => answers.push(answer));
    },
  );
  /** What each request has ended with, and how many are under way then. */
  const ended: [first: string, attempts: Answer[] | undefined, count: number][] = [];
  const start = (group: Entry[], silent = 0, handoff = false) =>
    requests.start(group, silent, handoff, (attempts) =>
      ended.push([group[0]!.record.id, attempts, requests.count()]),
    );
  return { requests, start, answers, asked, ended };
};

it('goes with keepalive while the browser’s budget has room, and gives the room back', async () => {
  const { requests, start, answers, ended } = open();
  const large = start([entryOf('a', KEEPALIVE_BUDGET - 200)]);
  const second = start([entryOf('b')]);
  expect([large, second, requests.count()]).toEqual([true, false, 2]);
  answers.forEach((answer) => answer([DELIVERED]));
  await vi.waitFor(() => expect(ended).toHaveLength(2));
  expect(requests.room()).toBe(KEEPALIVE_BUDGET);
});

it('tells of an answer in the task in which the request ends', async () => {
  const { start, answers, ended } = open();
  start([entryOf('a')]);
  answers[0]!([DELIVERED]);
  await vi.waitFor(() => expect(ended).toEqual([['a', [DELIVERED], 0]]));
});

it('goes without keepalive every other time while nothing answers, but not as the page is left', () => {
  const { start, asked } = open();
  for (const silent of [0, 1, 2, 3]) start([entryOf('a')], silent);
  start([entryOf('a')], 1, true);
  expect(asked.map(({ keepalive }) => keepalive)).toEqual([true, false, true, false, true]);
});

it('has no answer once it is lost, and does not end if the browser carries it on', async () => {
  const { requests, start, answers, ended } = open();
  start([entryOf('a')]);
  requests.loseRunning();
  start([entryOf('b')], 0, true);
  answers[0]!([DELIVERED]);
  answers[1]!();
  await vi.waitFor(() => expect(requests.room()).toBe(KEEPALIVE_BUDGET));
  expect(ended).toEqual([['a', undefined, 0]]);
  expect(requests.count()).toBe(1);
});

it('ends what is under way when nothing may be sent any more', () => {
  const { requests, start, asked, ended } = open();
  for (const id of ['a', 'b']) start([entryOf(id)]);
  requests.abort();
  expect(asked.map(({ controller }) => controller.signal.aborted)).toEqual([true, true]);
  expect(ended.map(([id, attempts]) => [id, attempts])).toEqual([
    ['a', undefined],
    ['b', undefined],
  ]);
  expect(requests.count()).toBe(0);
});

it('listens once for all that is under way, and takes what fails for broken off if a navigation has begun since', async () => {
  const add = vi.spyOn(window, 'addEventListener');
  const { start, answers, ended } = open();
  for (const id of ['a', 'b']) start([entryOf(id)]);
  window.dispatchEvent(new Event('beforeunload'));
  start([entryOf('later')]);
  expect(add).toHaveBeenCalledTimes(1);
  const failed: Answer = { ...DELIVERED, outcome: 'retry', status: 0 };
  answers.forEach((answer) => answer([failed]));
  await vi.waitFor(() => expect(ended).toHaveLength(3));
  expect(ended.map(([id, attempts]) => [id, attempts])).toEqual([
    ['a', []],
    ['b', []],
    ['later', [failed]],
  ]);
});
