import { expect, type Page } from '@playwright/test';
import { statusOf } from './status-of.js';
import { storedFlight } from './stored-records.js';

/** Waits until no request is under way, and the database says so: one that is would count as `unknown` from then on. */
export const rests = async (page: Page): Promise<void> => {
  await expect.poll(() => statusOf(page)).toMatchObject({ inFlight: 0 });
  await expect.poll(() => storedFlight(page)).toEqual([]);
};
