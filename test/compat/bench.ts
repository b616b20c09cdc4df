import { afterEach, beforeEach } from 'vitest';
import { createAnalytics } from '../../src/testing.js';

/** What the calls of other tools are made on. It has nothing in it as a test begins. */
export const outbox = createAnalytics();
export const bodies = () => outbox.events().map(({ event, tags }) => [event, tags]);
export const users = () =>
  outbox.identifies().map(({ user_id, properties }) => [user_id, properties]);

/** What is known of the page. */
export const PAGE = { path: '/pricing', title: 'Pricing', referrer: '' };

/** Drops of calls that nothing here stands for. */
export const refused = (...names: string[]) =>
  names.map((name) => ({ reason: 'not-supported', message: `${name} has no counterpart` }));

/** The globals of the page. */
export const page = globalThis as unknown as Record<string, unknown>;
const GLOBALS = ['dataLayer', 'gtag', 'plausible', 'posthog', 'analytics', 'umami', 'ls', 'lsq'];

beforeEach(() => {
  outbox.init({ relay: '/a', project: 'test', channel: 'test' });
  outbox.clear();
  document.title = 'Pricing';
});
afterEach(() => {
  outbox.stop();
  for (const name of GLOBALS) delete page[name];
});
