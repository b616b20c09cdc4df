import type { BrowserContext, Page } from '@playwright/test';

/** The first penalty in milliseconds. The next is 16 times as long, or twice without an answer; then each doubles. */
export const STEADY_MS = 200;
const BASE_MS = 1_000;

/** Takes the chance out of the backoff of a page, so that a test can tell when a request may come. */
export const steadyBackoff = (
  target: BrowserContext | Page,
  milliseconds: number = STEADY_MS,
): Promise<unknown> =>
  target.addInitScript((value) => {
    Math.random = () => value;
  }, milliseconds / BASE_MS);
