import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext, Page } from '@playwright/test';
import { isBrowserError, isBrowserNoise, isForDeveloper } from './browser-noise.js';
import { guestScript, NAMES_AT_START, REJECTION_MARK } from './guest-script.js';
import { newGlobals } from './new-globals.js';

const ANSWERS_WITHIN_MS = 60_000;

export type Guest = ReturnType<typeof createGuest>;

/**
 * Holds the snippet to the manners of a guest: no page error, no unhandled rejection, no console line
 * of any level (but what it tells a developer on a local host), no global but `analytics`, on any page of any context that it watches.
 */
export const createGuest = () => {
  const seen: string[] = [];
  const allowed: RegExp[] = [];
  const globals = new Set(['analytics']);

  const report = (problem: string): void => void seen.push(problem);
  const problems = (): string[] => [
    ...new Set(seen.filter((problem) => !allowed.some((pattern) => pattern.test(problem)))),
  ];

  const inspectNames = (names: readonly string[], where: string): void => {
    for (const name of names) if (!globals.has(name)) report(`new global \`${name}\` at ${where}`);
  };

  const inspectGlobals = async (page: Page): Promise<void> => {
    for (const frame of page.frames()) {
      const names = await newGlobals(frame).catch((error: unknown) => {
        // A page that crashed, closed or navigated on purpose has no globals to look at.
        if (/closed|crashed|detached|destroyed|test ended/i.test(String(error))) return [];
        throw error;
      });
      inspectNames(names, frame.url());
    }
  };

  /** A page stuck in a loop would keep the test waiting for its own timeout. */
  const inspectPage = async (page: Page): Promise<void> => {
    const waiting = new AbortController();
    const stuck = pause(ANSWERS_WITHIN_MS, undefined, { signal: waiting.signal }).then(
      () => report(`the page at ${page.url()} does not answer`),
      () => undefined,
    );
    await Promise.race([inspectGlobals(page), stuck]).finally(() => waiting.abort());
  };

  return {
    /** Notes what another pair of eyes has seen. */
    report,
    /** Looks at names that a page has now and had not before its first script. */
    inspectNames,
    /** Begins to watch all pages of a context; the fixtures' own are watched already. */
    watch: async (context: BrowserContext): Promise<void> => {
      context.on('console', (message) => {
        const line = `console.${message.type()}: ${message.text()}`;
        const isTip = isForDeveloper(message);
        if (!isTip && !isBrowserNoise(message)) report(`${line} at ${message.page()?.url()}`);
      });
      context.on('weberror', (error) => {
        const thrown = error.error();
        if (!isBrowserError(thrown))
          report(`page error: ${thrown.message} at ${error.page()?.url()}`);
      });
      await context.addInitScript(guestScript, { key: NAMES_AT_START, mark: REJECTION_MARK });
    },
    /** Looks at the globals of the pages that are open now. At the end of a test that is done anyway. */
    inspect: async (context: BrowserContext): Promise<void> => {
      await Promise.all(context.pages().map(inspectPage));
    },
    /** What was seen so far and not allowed. */
    problems,
    /** Lets pass what matches, earlier or later: for the line a test provokes. */
    allow: (pattern: RegExp): void => void allowed.push(pattern),
    /** Lets these globals pass: those of the test's own page scripts, or of a site that is not ours. */
    allowGlobals: (...names: string[]): void => names.forEach((name) => globals.add(name)),
    /** Fails if there is a problem. */
    verify: (): void => {
      const found = problems();
      if (found.length) throw new Error(`Not a good guest:\n- ${found.join('\n- ')}`);
    },
  };
};
