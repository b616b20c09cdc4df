import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRequests } from '../../../src/client/delivery/requests.js';
import { KEEPALIVE_BUDGET } from '../../../src/client/delivery/send/post.js';
import type { Attempt, Send } from '../../../src/client/delivery/send/sender.js';
import type { Settings } from '../../../src/client/options.js';
import { createEntry, createParcel, type Entry } from '../../../src/client/outbox/parcel.js';

beforeEach(() => void vi.stubGlobal('window', new EventTarget()));
afterEach(() => void vi.unstubAllGlobals());

const parcel = createParcel([0, 'maker', 1], 'no');
const entryOf = (id: string, bytes = 2): Entry =>
  createEntry({ id, type: 'event', body: 'x'.repeat(bytes), at: 0, attempts: 0 }, parcel, 1);
const DELIVERED: Attempt = { outcome: 'delivered', status: 200, retryAfterMs: 0, problem: '' };

const open = () => {
  const answers: ((attempts?: Attempt[]) => void)[] = [];
  const asked: Parameters<Send>[1][] = [];
  const lost: string[] = [];
  const requests = createRequests({
    settings: () => ({ timeout: 30_000 }) as Settings,
    now: () => 0,
    send: (_, how) => {
      asked.push(how);
      return new Promise((answer) => answers.push(answer));
    },
    onLost: (group) => lost.push(...group.map(({ record }) => record.id)),
  });
  return { requests, answers, asked, lost };
};

it('goes with keepalive while the browser’s budget has room, and gives the room back', async () => {
  const { requests, answers } = open();
  const large = requests.start([entryOf('a', KEEPALIVE_BUDGET - 200)], 0, false);
  const second = requests.start([entryOf('b')], 0, false);
  expect([large.keepalive, second.keepalive, requests.count()]).toEqual([true, false, 2]);
  answers.forEach((answer) => answer([DELIVERED]));
  expect(await large.answer).toEqual([DELIVERED]);
  await second.answer;
  expect([requests.room(), requests.count()]).toEqual([KEEPALIVE_BUDGET, 0]);
});

it('goes without keepalive every other time while nothing answers, but not as the page is left', () => {
  const { requests, asked } = open();
  for (const silent of [0, 1, 2, 3]) requests.start([entryOf('a')], silent, false);
  requests.start([entryOf('a')], 1, true);
  expect(asked.map(({ keepalive }) => keepalive)).toEqual([true, false, true, false, true]);
});

it('has no answer once it is lost, or if the browser carries it on', async () => {
  const { requests, answers, lost } = open();
  const forgotten = requests.start([entryOf('a')], 0, false);
  requests.loseRunning();
  const carried = requests.start([entryOf('b')], 0, true);
  answers[0]!([DELIVERED]);
  answers[1]!();
  expect(await forgotten.answer).toBeUndefined();
  expect(await carried.answer).toBeUndefined();
  expect(lost).toEqual(['a']);
});

it('ends what is under way when nothing may be sent any more', () => {
  const { requests, asked, lost } = open();
  for (const id of ['a', 'b']) requests.start([entryOf(id)], 0, false);
  requests.abort();
  expect(asked.map(({ controller }) => controller.signal.aborted)).toEqual([true, true]);
  expect(lost).toEqual(['a', 'b']);
  expect(requests.count()).toBe(0);
});
