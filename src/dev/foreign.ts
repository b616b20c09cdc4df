import { mayFail } from '../util/may-fail.js';
import { HELP, type Say } from './say.js';

/** The script of another tool has this long to come before its calls count as nobody's. */
const FOREIGN_MS = 5_000;

type Page = Record<string, Record<string, unknown> & unknown[]>;

/** Whether calls wait in this list: what takes them gives it a `push` of its own. */
const isWaiting = (list: unknown): unknown =>
  Array.isArray(list) && list[0] && !Object.hasOwn(list, 'push');
const has = (selector: string) => document.querySelector(selector);

/** A tag that does not capture clicks. */
const TAG = 'script[data-project]:not([data-auto~=clicks],[data-auto-options])';

const ADAPTER = 'analytics-outbox/compat/';
const TABLE = `write them by ${HELP.replace('messages', 'migration')}#`;

/** What is seen while nothing on the page takes it, most of it of other tools; and what to do. */
const SIGNS: readonly (readonly [what: string, fix: string, isSeen: (page: Page) => unknown])[] = [
  [
    'elements with `data-event`',
    'add `clicks` to data-auto',
    () => has(TAG) && has('[data-event]'),
  ],
  [
    'calls of PostHog',
    `${ADAPTER}posthog`,
    ({ posthog }) => isWaiting(posthog) && !posthog!['__loaded'],
  ],
  [
    'calls or classes of Plausible',
    `${ADAPTER}plausible`,
    ({ plausible }) =>
      isWaiting(plausible?.['q']) || (!plausible && has('[class*=plausible-event-name]')),
  ],
  ['attributes of Umami', `${ADAPTER}umami`, ({ umami }) => !umami && has('[data-umami-event]')],
  [
    'calls of gtag',
    `${ADAPTER}gtag`,
    ({ dataLayer, google_tag_manager: google }) => !google && isWaiting(dataLayer),
  ],
  [
    'calls of Segment',
    `${ADAPTER}segment`,
    ({ analytics }) => isWaiting(analytics) && !analytics!['initialized'],
  ],
  ['calls of LogSnag', `${ADAPTER}logsnag`, ({ lsq }) => isWaiting(lsq)],
  ['calls of Mixpanel', `${TABLE}mixpanel`, ({ mixpanel }) => isWaiting(mixpanel)],
  ['calls of Amplitude', `${TABLE}amplitude`, ({ amplitude }) => isWaiting(amplitude?.['_q'])],
  ['calls of Matomo', `${TABLE}matomo`, ({ _paq }) => isWaiting(_paq)],
];

/** Tells, after a while, of calls and attributes that lead nowhere. */
export const watchForeign = (say: Say): unknown =>
  setTimeout(() => {
    for (const [what, fix, isSeen] of SIGNS)
      if (mayFail(() => isSeen(window as unknown as Page)))
        say(`${what} are here, and nothing takes them: ${fix}`);
  }, FOREIGN_MS);
