import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Settings } from '../../../../src/client/options.js';
import { post } from '../../../../src/client/delivery/send/post.js';
import { followPage } from '../../../../src/client/life.js';
import { openSite } from '../../../support/site.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const MESSAGE = { url: '/v1/event', body: '{}', keepalive: true, isSilent: false };

/** The moments of a page: `pagehide`, `pageshow` when it comes back from the cache, timers that are late, and others. */
type Moment = 'send' | 'leave' | 'return' | 'hide' | 'show' | 'lag' | 'freeze' | 'refuse';

it.each<[what: string, moments: Moment[], sends: number]>([
  ['the page has stayed', ['send', 'refuse'], 2],
  ['its tab was hidden meanwhile', ['send', 'hide', 'show', 'refuse'], 2],
  ['its timers are late, since it is hidden', ['send', 'hide', 'refuse', 'lag'], 2],
  ['the page is left', ['send', 'leave', 'refuse'], 1],
  ['the page was left, and is back', ['send', 'leave', 'return', 'refuse'], 1],
  ['the page was frozen as it heard that', ['send', 'hide', 'refuse', 'freeze'], 1],
  ['the page handed it off, and is back', ['leave', 'send', 'return', 'refuse'], 1],
])(
  'what the browser refuses under keepalive goes again if nobody else can have it: %s',
  async (_, moments, sends) => {
    const site = openSite();
    const nothing = () => undefined;
    const unfollow = followPage(nothing, nothing, nothing, nothing);
    let refuse = nothing;
    let sent = 0;
    const fetch = (): Promise<Response> => {
      if (sent++) return Promise.resolve(new Response());
      return new Promise((_, reject) => (refuse = () => void reject(new TypeError('no room'))));
    };
    const settings = { timeout: 30_000, fetch } as Partial<Settings> as Settings;
    const acts: Record<Moment, () => unknown> = {
      send: () => void post({ ...MESSAGE, controller: new AbortController() }, settings),
      leave: () => site.say(site.win, 'pagehide'),
      return: () =>
        site.win.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })),
      hide: site.hide,
      show: site.show,
      lag: () => setTimeout(() => vi.setSystemTime(Date.now() + 1_000)),
      freeze: () => setTimeout(() => vi.setSystemTime(Date.now() + 100_000)),
      refuse: () => refuse(),
    };
    for (const moment of moments) acts[moment]();
    await vi.runAllTimersAsync();
    expect(sent).toBe(sends);
    unfollow();
  },
);

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
  const answered = post(
    { ...MESSAGE, keepalive: false, controller: new AbortController() },
    settings,
  );
  await vi.runAllTimersAsync().finally(() => Object.defineProperty(globalThis, 'fetch', page));
  expect(await answered).toMatchObject(answer);
});
