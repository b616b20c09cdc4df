import { cut } from './cut.js';
import type { Feature } from './feature.js';
import type { ErrorLabels } from './types.js';
import { withoutCredentials } from './without-credentials.js';
import { withoutQuery } from './without-query.js';

const LONGEST = 300;
/** No more of a text is looked at: some pages throw the whole answer of a server. */
const ENOUGH = 2_000;

/** What says nothing: a browser's notice that a ResizeObserver is late, and the error of a script of another site. */
const NOISE = /^ResizeObserver loop|^Script error\.?$/;

const shorten = (text: string): string =>
  cut(withoutQuery(withoutCredentials(cut(text, ENOUGH))), LONGEST);

/** Uncaught errors and rejections: each once, and not more than some. */
export const errors: Feature<ErrorLabels> = (tell, { limit = 10 }, page) => {
  const known = new Set<string>();
  page.listen<ErrorEvent & PromiseRejectionEvent>(
    window,
    'error unhandledrejection',
    ({ type, message, filename, lineno, colno, reason }) => {
      if (known.size >= limit) return;
      const text: unknown = message ?? (reason as Error | undefined)?.message ?? reason;
      // Such as an image that does not load.
      if (text === undefined) return;
      const tags = {
        type,
        message: shorten(String(text)),
        source: filename && `${shorten(filename)}:${lineno}:${colno}`,
      };
      const key = Object.values(tags).join();
      if (NOISE.test(tags.message) || known.has(key)) return;
      known.add(key);
      tell(tags);
    },
  );
};
