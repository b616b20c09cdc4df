import { onUse } from './browser/on-use.js';
import { createPlausible } from './plausible.js';
import type { Plausible, PlausibleConfig } from './plausible.js';
import type { Target } from './target.js';

type Call = Parameters<Plausible>;

/** The function that Plausible has sites put into their heads: it keeps its calls, and the options of `init`. */
interface Stub {
  q?: ArrayLike<unknown>[];
  o?: PlausibleConfig;
  /** It was taken over: a second time would follow each click twice. */
  outbox?: 1;
}

/**
 * Puts this function in the place of Plausible's, makes the calls that wait in it, and follows elements with the class
 * `plausible-event-name=…`. Called again, it returns the function of the first call.
 * @example takeOverPlausible(analytics);
 */
export const takeOverPlausible = (analytics: Pick<Target, 'event'>): Plausible => {
  const page = globalThis as unknown as { plausible?: Stub & Partial<Plausible> };
  const { q = [], o, outbox } = page.plausible ?? {};
  if (outbox) return page.plausible as Plausible;
  const plausible = createPlausible(analytics);
  const push = (call: ArrayLike<unknown>) => plausible(...(Array.from(call) as Call));
  plausible.init(o);
  // A part of the page may have kept the function from before, which looks for the list again.
  page.plausible = Object.assign(plausible, {
    q: Object.assign([], { push }),
    outbox: 1 as const,
  });
  q.forEach(push);

  onUse('[class*=plausible-event-name]', ({ classList }) => {
    const props: Record<string, string> = {};
    for (const word of classList) {
      const [, key, value] = /^plausible-(?:event|revenue)-(.+?)(?:=|--)(.*)/.exec(word) ?? [];
      if (key) props[key] = value!.replace(/\+/g, ' ');
    }
    const { name, ...others } = props;
    plausible(name!, { props: others });
  });
  return plausible;
};
