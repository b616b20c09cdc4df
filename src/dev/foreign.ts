import { attempt } from '../interface/attempt.js';
import type { Say } from './say.js';

/** The script of another tool has this long to come before its calls count as nobody's. */
const FOREIGN_MS = 5_000;

type Page = Record<string, Record<string, unknown> & unknown[]>;

/** Whether calls wait in this list: what takes them gives it a `push` of its own. */
const isWaiting = (list: unknown): unknown =>
  Array.isArray(list) && list[0] && !Object.hasOwn(list, 'push');
const has = (selector: string) => document.querySelector(selector);

/** What is seen of another tool while nothing on the page takes it, and the file that does. */
const SIGNS: readonly [what: string, file: string, isSeen: (page: Page) => unknown][] = [
  ['calls of PostHog', 'posthog', ({ posthog }) => isWaiting(posthog) && !posthog!['__loaded']],
  [
    'calls or classes of Plausible',
    'plausible',
    ({ plausible }) =>
      isWaiting(plausible?.['q']) || (!plausible && has('[class*=plausible-event-name]')),
  ],
  ['attributes of Umami', 'umami', ({ umami }) => !umami && has('[data-umami-event]')],
  [
    'calls of gtag',
    'gtag',
    ({ dataLayer, google_tag_manager: google }) => !google && isWaiting(dataLayer),
  ],
  [
    'calls of Segment',
    'segment',
    ({ analytics }) => isWaiting(analytics) && !analytics!['initialized'],
  ],
  ['calls of LogSnag', 'logsnag', ({ lsq }) => isWaiting(lsq)],
];

/** Tells, after a while, of calls and attributes of other tools that lead nowhere. */
export const watchForeign = (say: Say): unknown =>
  setTimeout(() => {
    for (const [what, file, isSeen] of SIGNS)
      if (attempt(() => isSeen(window as unknown as Page)))
        say(`${what} are here, and nothing takes them: analytics-outbox/compat/${file} does`);
  }, FOREIGN_MS);
