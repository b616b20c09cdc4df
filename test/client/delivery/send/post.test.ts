import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Settings } from '../../../../src/client/options.js';
import { post } from '../../../../src/client/delivery/send/post.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('tries once without keepalive where the browser refuses it at once, though timers of a hidden page are late', async () => {
  const asked: unknown[] = [];
  const fetch = async (_: unknown, { keepalive }: RequestInit = {}): Promise<Response> => {
    asked.push(keepalive);
    if (keepalive) throw new TypeError('no room');
    return new Response('', { status: 200 });
  };
  const settings = { timeout: 30_000, fetch } as Partial<Settings> as Settings;
  const message = { url: '/v1/event', body: '{}', keepalive: true, isSilent: false };
  setTimeout(() => vi.setSystemTime(Date.now() + 1_000));
  const answer = post({ ...message, controller: new AbortController() }, settings, Date.now);
  await vi.runAllTimersAsync();
  expect(await answer).toMatchObject({ outcome: 'delivered', status: 200 });
  expect(asked).toEqual([true, false]);
});

it.each([
  ['there is no `fetch`', undefined, { outcome: 'retry', status: 0 }],
  [
    'an answer gives what is no text',
    async () => ({
      status: 200,
      headers: new Headers(),
      text: () => Object.create(null) as string,
    }),
    { outcome: 'delivered', status: 200 },
  ],
])('never rejects, where %s', async (_, fetch, answer) => {
  const page = Object.getOwnPropertyDescriptor(globalThis, 'fetch')!;
  Reflect.deleteProperty(globalThis, 'fetch');
  const settings = { timeout: 30_000, fetch } as unknown as Settings;
  const message = { url: '/v1/event', body: '{}', keepalive: false, isSilent: false };
  const answered = post({ ...message, controller: new AbortController() }, settings, Date.now);
  await vi.runAllTimersAsync().finally(() => Object.defineProperty(globalThis, 'fetch', page));
  expect(await answered).toMatchObject(answer);
});
