import { mayFail } from '../util/may-fail.js';
import { HELP, type Say } from './say.js';

/** The script of another tool has this long to come before its calls count as nobody's. */
const FOREIGN_MS = 5_000;

type Page = Record<string, Record<string, unknown> & unknown[]>;

/** Whether calls wait in this list: what takes them gives it a `push` of its own. */
const isWaiting = (list: unknown): unknown =>
  Array.isArray(list) && list[0] && !Object.hasOwn(list, 'push');
const has = (selector: string) => document.querySelector(selector);

type Sign = readonly [what: string, file: string, isSeen: (page: Page) => unknown];

/** What is seen of another tool while nothing on the page takes it, and the file that does. */
const SIGNS: readonly Sign[] = [
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

/** The same of tools for which there is no such file, and the heading of the docs with their calls. */
const SIGNS_WITHOUT: readonly Sign[] = [
  ['calls of Mixpanel', 'mixpanel', ({ mixpanel }) => isWaiting(mixpanel)],
  ['calls of Amplitude', 'amplitude', ({ amplitude }) => isWaiting(amplitude?.['_q'])],
  ['calls of Matomo', 'matomo', ({ _paq }) => isWaiting(_paq)],
];

/** Tells, after a while, of calls and attributes of other tools that lead nowhere. */
export const watchForeign = (say: Say): unknown =>
  setTimeout(() => {
    const seen = (signs: readonly Sign[]) =>
      signs.filter(([, , isSeen]) => mayFail(() => isSeen(window as unknown as Page)));
    for (const [what, file] of seen(SIGNS))
      say(`${what} are here, and nothing takes them: analytics-outbox/compat/${file} does`);
    for (const [what, file] of seen(SIGNS_WITHOUT))
      say(
        `${what} are here, and nothing takes them: write them as ${HELP.replace('messages.md', `migration.md#${file}`)} says`,
      );
  }, FOREIGN_MS);
