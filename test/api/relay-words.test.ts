import { expect, it } from 'vitest';
import { passUntil } from '../support/clock.js';
import { openShop } from '../support/shop.js';

it('tells a developer in the service’s own words why it refuses a record, by relay as well', async () => {
  const shop = openShop('by relay');
  shop.service.faults([{ status: 422, body: { code: 422, message: 'icon may be one emoji' } }]);
  const { analytics, heard } = shop.visit();
  analytics.event('Signed Up');
  await passUntil(() => heard.drop.length === 1);
  expect(heard.drop).toMatchObject([
    { reason: 'rejected', message: 'the relay: 422 icon may be one emoji' },
  ]);
});
