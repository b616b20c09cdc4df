import type { BrowserContext, Page } from '@playwright/test';

/** A wait at its longest: a second, or half as long as the trouble has lasted if that is longer. */
export const LONGEST = 1;
/** A wait at its shortest: half of that. */
export const SHORTEST = 0;

/** Takes the chance out of the backoff of a page, so that a test can tell when a request may come. */
export const steadyBackoff = (
  target: BrowserContext | Page,
  draw: typeof LONGEST | typeof SHORTEST = SHORTEST,
): Promise<unknown> =>
  target.addInitScript((value) => {
    Math.random = () => value;
  }, draw);
