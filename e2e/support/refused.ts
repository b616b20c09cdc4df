import type { Page } from '@playwright/test';
import type { Service } from './service.js';
import { statusOf } from './status-of.js';
import { expect } from './test.js';
import { track } from './track.js';

/**
 * Calls these while the service refuses, until all of them wait for the end of a penalty; then the service is well
 * again. Answers with the number of requests by then: how many go before the first refusal is timing.
 */
export const trackRefused = async (
  { page, service }: { page: Page; service: Service },
  events: readonly string[],
): Promise<number> => {
  await service.faults([{ status: 503, headers: { 'retry-after': '60' } }]);
  await track(page, events);
  await expect
    .poll(() => statusOf(page))
    .toMatchObject({ waiting: events.length, inFlight: 0, paused: 'backoff' });
  await service.faults([]);
  return (await service.requests()).length;
};
