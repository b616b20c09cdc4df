import { cut } from '../util/cut.js';
import type { Feature } from './feature.js';
import type { ErrorLabels } from './types.js';
import { withoutCredentials, withoutQuery } from './without-query.js';

const LONGEST = 300;
/** No more of a text is looked at: some pages throw the whole answer of a server. */
const ENOUGH = 2_000;

/** A file of a browser's extension, before any of the web: alone, or in a stack. */
const OF_EXTENSION = /^((?!http)[^])*(-extension|masked-url):/;

/** What says nothing: a browser's notice that a ResizeObserver is late, and the error of a script of another site. */
const NOISE = /^ResizeObserver loop|^Script error\.?$/;

/**
 * How browsers word a request or a module that did not arrive. WebKit and Firefox reject with the same words as a
 * navigation begins, since it breaks off what the page still loads. They tell of the navigation itself only later, when
 * the next page has answered.
 */
const BROKEN_OFF = /network|abort|^(load f|failed to f|import|error load|cancel)/i;
/** A page that is still there after this time is not being left. */
const LEFT_WITHIN_MS = 10_000;

const shorten = (text: unknown): string =>
  cut(withoutQuery(withoutCredentials(cut(String(text), ENOUGH))), LONGEST);

/** Uncaught errors and rejections: each once, and not more than some. Those that the page's own end causes are none. */
export const errors: Feature<ErrorLabels> = (tell, { limit = 10 }, page) => {
  const known = new Set<string>();
  page.listen<ErrorEvent & PromiseRejectionEvent>(
    window,
    'error unhandledrejection',
    ({ type, message, filename, lineno, colno, reason }) => {
      if (known.size >= limit) return;
      // A rejection may have any value, such as an event.
      const of = Object(reason) as Partial<Record<string, unknown>>;
      const from = shorten(filename || of['stack']);
      const text = message ?? (of['message'] || of['name'] || of['type'] || of['code'] || reason);
      // Without a text, such as an image that does not load.
      if (text === undefined || OF_EXTENSION.test(from)) return;
      const tags = {
        type,
        message: shorten(text),
        source: filename && `${from}:${lineno}:${colno}`,
      };
      const key = JSON.stringify(tags);
      if (NOISE.test(tags.message) || known.has(key)) return;
      known.add(key);
      if (filename || !BROKEN_OFF.test(tags.message)) return tell(tags);
      const told = { path: page.path(), ...tags };
      const then = page.moment();
      page.later(LEFT_WITHIN_MS, (isTime) => (isTime ? tell(told, then) : known.delete(key)));
    },
  );
};
