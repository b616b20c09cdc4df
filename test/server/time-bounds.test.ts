import type { ServerResponse } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createNodeFetch } from '../../src/relay-node.js';
import type { RelayOptions } from '../../src/relay.js';
import { event } from './support/records.js';
import { listen, setUpRelay, waitOf } from './support/relay.js';

const never = (): Promise<never> => new Promise(() => {});
const set = (options: Partial<RelayOptions>) => setUpRelay({ now: () => Date.now(), ...options });

/** Time stands still until it is passed. */
const stopTime = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
};

/** Lets time pass until an answer is there: slowly, since the relay also does work that takes real time. */
const passUntil = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
  let isOver = false;
  void answer.finally(() => (isOver = true)).catch(() => {});
  while (!isOver) {
    await rest(10);
    await vi.advanceTimersByTimeAsync(10);
  }
  return answer;
};

const inTime = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  stopTime();
  return passUntil(ask());
};

it.each<[string, Partial<RelayOptions>, string[]]>([
  ['the token function', { token: never, timeout: 50 }, ['token']],
  ['a `fetch` that knows no signal', { fetch: never, timeout: 50 }, []],
])('answers `retry` where this hangs: %s', async (_, options, kinds) => {
  const { outcomes, service, errors } = set({ deadline: 50, ...options });
  service.fails(0);
  expect(await inTime(() => outcomes(event('a')))).toEqual([['a', 'retry']]);
  expect(errors.map(({ kind }) => kind)).toEqual(expect.arrayContaining(kinds));
});

it.each([
  ['authorize', 'hangs', 'no answer in time', never],
  ['rateLimit', 'hangs', 'no answer in time', never],
  ['authorize', 'fails', 'no database', () => Promise.reject(new Error('no database'))],
])('lets nobody in while `%s` %s, and tells why: %s', async (name, _, words, hook) => {
  const { batch, service, errors } = set({ [name]: hook, timeout: 50 });
  expect(waitOf(await inTime(() => batch([event('a')])))).toEqual([503, '1']);
  expect(service.got).toEqual([]);
  expect(errors).toEqual([{ kind: 'hook', message: `\`${name}\`: ${words}` }]);
});

it.each<[how: string, hook: () => unknown]>([
  ['reject, as they may where types are not looked at', () => Promise.reject(new Error('no'))],
  [
    'throw',
    () => {
      throw new Error('no');
    },
  ],
])('goes on where hooks %s', async (_, hook) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const { outcomes } = set({ onError: hook, onMetric: hook });
  expect(await outcomes(event('a'))).toEqual([['a', 'delivered']]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

it('is content with a `fetch` that answers with a status alone', async () => {
  let requests = 0;
  const fetch = (async () => (requests++, { status: 200 })) as never;
  const { outcomes } = set({ fetch });
  for (let times = 0; times < 2; times++)
    expect(await outcomes(event('a'))).toEqual([['a', 'delivered']]);
  expect(requests).toBe(1);
});

/** Sends a record twice to a service over HTTP that answers in its own way, and answers how often it was asked. */
const deliverTwice = async (
  answer: (response: ServerResponse) => void,
  options: Partial<RelayOptions>,
): Promise<number> => {
  let requests = 0;
  const port = await listen((request, response) => {
    requests++;
    request.resume().on('end', () => answer(response));
  });
  const { outcomes } = set({ baseUrl: `http://127.0.0.1:${port}`, ...options });
  for (let times = 0; times < 2; times++)
    expect(await outcomes(event('a'))).toEqual([['a', 'delivered']]);
  return requests;
};

const FETCHES = [
  ['the global fetch', fetch],
  ['createNodeFetch()', createNodeFetch()],
] as const;

it.each(FETCHES)('reads 64 KiB of an answer by %s', async (_, fetch) => {
  let written = 0;
  let close = () => {};
  const closed = new Promise<void>((resolve) => (close = resolve));
  const pour = (response: ServerResponse) => {
    const piece = Buffer.alloc(65_536, ' ');
    const pump = (): void => {
      do written += piece.length;
      while (response.write(piece) && written < 512 * 1024 * 1024);
    };
    response
      .on('drain', pump)
      .on('close', close)
      .on('error', () => {});
    pump();
  };
  expect(await deliverTwice(pour, { fetch: fetch as typeof globalThis.fetch })).toBe(1);
  await closed;
  expect(written).toBeLessThan(16 * 1024 * 1024); // what the sockets of both sides take
});

it.each(
  FETCHES.flatMap(([name, fetch]) => [
    [name, 'never ends', fetch, () => {}] as const,
    [
      name,
      'is cut off',
      fetch,
      (response: ServerResponse) => void setImmediate(() => response.destroy()),
    ] as const,
  ]),
)('takes the status of an answer, by %s, whose body %s', async (_, __, fetch, end) => {
  const answer = (response: ServerResponse) => {
    response.writeHead(200, { 'content-length': '100' }).write('{');
    end(response);
  };
  const options = { fetch: fetch as typeof globalThis.fetch, timeout: 200 };
  expect(await deliverTwice(answer, options)).toBe(1);
});
