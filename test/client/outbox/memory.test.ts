import { afterEach, describe, expect, it, vi } from 'vitest';
import { taken } from '../../support/answers.js';
import { DIRECT, openSite, sleep, track } from '../../support/site.js';

afterEach(() => vi.unstubAllGlobals());

describe('the age of a record', () => {
  const DAY_MS = 86_400_000;
  const OLD: Record<string, [before: number, after: number]> = {
    'is set ahead': [0, 8 * DAY_MS],
    'is set back': [0, -8 * DAY_MS],
    'was behind and is put right': [-8 * DAY_MS, 0],
    'was ahead and is put right': [8 * DAY_MS, 0],
    'began in 1970 and is put right': [-Date.now(), 0],
    'falls back to 1970': [0, -Date.now()],
  };
  const open = (offset: () => number, isDown: () => boolean) =>
    track({
      ...DIRECT,
      flushInterval: 1,
      now: () => Date.now() + offset(),
      fetch: async () => (isDown() ? new Response('', { status: 503 }) : taken()),
    }).analytics;

  it.each(Object.entries(OLD))(
    'is seconds on the page that made it, though the clock %s',
    async (_, [before, after]) => {
      openSite();
      let isDown = true;
      let offset = before;
      const analytics = open(
        () => offset,
        () => isDown,
      );
      analytics.event('Viewed');
      await vi.waitFor(() => expect(analytics.status().paused).toBe('backoff'));
      offset = after;
      isDown = false;
      await vi.waitFor(async () => {
        await analytics.flush();
        expect(analytics.status()).toMatchObject({ delivered: 1, dropped: {} });
      }, 5_000);
      analytics.stop();
    },
  );

  it.each([
    ['of 8 days', 8 * DAY_MS, { expired: 1 } as { expired?: number }],
    ['of years, which only a clock that was wrong can tell', 40 * 365 * DAY_MS, {}],
  ])('counts for a stored record: %s', async (_, age, dropped) => {
    const site = openSite();
    let isDown = true;
    const first = open(
      () => -age,
      () => isDown,
    );
    first.event('Viewed');
    await vi.waitFor(() => expect(first.status().paused).toBe('backoff'));
    site.next();
    await sleep(20);
    first.stop();
    isDown = false;
    const second = open(
      () => 0,
      () => isDown,
    );
    await vi.waitFor(async () => {
      await second.flush();
      const { delivered, dropped: found } = second.status();
      expect({ delivered, found }).toEqual({ delivered: dropped.expired ? 0 : 1, found: dropped });
    }, 5_000);
    second.stop();
  });
});
