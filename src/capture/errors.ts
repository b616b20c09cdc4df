import type { Feature } from './feature.js';
import type { ErrorLabels } from './types.js';
import { withoutQuery } from './without-query.js';

const LONGEST = 300;

/** Uncaught errors and rejections: each once, and not more than some. */
export const errors: Feature<ErrorLabels> = (tell, { limit = 10 }, page) => {
  const known = new Set<string>();
  page.listen<ErrorEvent & PromiseRejectionEvent>(
    window,
    'error unhandledrejection',
    ({ type, message, filename, lineno, colno, reason }) => {
      const text: unknown = message ?? (reason as Error | undefined)?.message ?? reason;
      // Such as an image that does not load.
      if (text === undefined) return;
      const tags = {
        type,
        message: withoutQuery(String(text)).slice(0, LONGEST),
        source: filename && `${withoutQuery(filename)}:${lineno}:${colno}`,
      };
      const key = Object.values(tags).join();
      if (known.has(key) || known.size >= limit) return;
      known.add(key);
      tell(tags);
    },
  );
};
