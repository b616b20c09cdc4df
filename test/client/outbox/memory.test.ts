import { describe, expect, it } from 'vitest';
import { pass } from '../../support/clock.js';
import { openShop } from '../../support/shop.js';

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
  /** A shop whose service fails for a while, and a clock that is so far from the truth. */
  const open = (offset: number) => {
    const shop = openShop();
    shop.service.faults([{ status: 503 }]);
    const clock = { offset };
    return { ...shop, clock, now: () => Date.now() + clock.offset };
  };

  it.each(Object.entries(OLD))(
    'is seconds on the page that made it, though the clock %s',
    async (_, [before, after]) => {
      const { service, visit, clock, now } = open(before);
      const { analytics, track } = visit({ now });
      track(['Viewed']);
      await pass(2_000);
      clock.offset = after;
      service.faults([]);
      await pass(10_000);
      expect(analytics.status()).toMatchObject({ delivered: 1, dropped: {} });
    },
  );

  it.each([
    ['of 8 days', 8 * DAY_MS, { expired: 1 }],
    ['of years, which only a clock that was wrong can tell', 40 * 365 * DAY_MS, {}],
  ])('counts for a stored record: %s', async (_, age, dropped) => {
    const shop = open(-age);
    const { service, clock, now } = shop;
    shop.visit({ now }).track(['Viewed']);
    await pass(2_000);
    clock.offset = 0;
    service.faults([]);
    const { analytics } = await shop.next({ now });
    await pass(10_000);
    expect(analytics.status()).toMatchObject({ delivered: 'expired' in dropped ? 0 : 1 });
    expect(analytics.status().dropped).toEqual(dropped);
  });
});
