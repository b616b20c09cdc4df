import { pageTags } from './browser/page-tags.js';
import type { SegmentAnalytics, SegmentCallback } from './segment-types.js';
import type { Target } from './target.js';
import { unsupported } from './unsupported.js';

/** Calls that have no counterpart. They are there so that none throws. */
const REFUSED =
  'alias debug timeout register setAnonymousId addSourceMiddleware addDestinationMiddleware';

type Methods = Record<string, (...args: unknown[]) => unknown>;

/** In a task of its own, so that what the page's function throws is the page's error. */
const later = (callback: unknown): void => void setTimeout(callback as () => void);

/**
 * Segment's documented calls, over an instance.
 * @example createSegment(analytics).track('Signed Up', { plan: 'pro' });
 */
export const createSegment = (analytics: Target): SegmentAnalytics => {
  /**
   * A call: first texts, then properties, then options, then a callback, of which any may be left out. `run` answers
   * with the event that it makes, and the tags beside the properties.
   */
  const method =
    (
      run: (texts: string[], properties?: object) => [name: string, tags?: object] | void,
      /** Where the properties are if nothing is left out. `null` there stands for none, and options come next. */
      place = 1,
    ) =>
    async (...args: unknown[]): Promise<void> => {
      try {
        args[place] ??= {};
        /** Arguments by the beginning of their type's name: object, string or number, function. */
        const of = (type: RegExp) => args.filter((value) => value && type.test(typeof value));
        of(/^f/).forEach(later);
        const [properties, options] = of(/^o/) as [object?, { timestamp?: unknown }?];
        const made = run(of(/^[sn]/).map(String), properties);
        if (made) {
          analytics.event(made[0], {
            tags: { ...made[1], ...properties },
            timestamp: options?.timestamp,
          });
        }
      } catch (error) {
        const toJSON = () => {
          throw error; // such as that of a getter of the page
        };
        analytics.event('call', { toJSON });
      }
    };

  const joinGroup = method(([group_id]) => ['Group Joined', { group_id }]);

  const bind =
    (type: string): SegmentAnalytics['trackLink'] =>
    (elements, ...given) => {
      // What a site looks for may be missing.
      const all = (elements as Partial<Element> | null)?.addEventListener
        ? [elements]
        : (elements ?? []);
      for (const element of all as Iterable<Element>) {
        element.addEventListener(type, () => {
          segment.track!(
            // The name and the properties, or functions that make them of the element.
            ...given.map((value) => (typeof value === 'function' ? value(element) : value)),
          );
        });
      }
    };

  const nothing = () => null;

  const segment = {
    track: method(([name]) => [name!]),
    page: method((texts) => {
      const [name, category] = texts.reverse();
      return ['Page Viewed', { ...pageTags(), category, name }];
    }, 2),
    // The tag's stub answers with a promise, which is no event.
    identify: method(
      ([id = analytics.status().userId], traits) => void analytics.identify(id as string, traits),
    ),
    group: (...args: unknown[]) =>
      args[0] ? joinGroup(...args) : { id: nothing, traits: nothing },
    trackLink: bind('click'),
    trackForm: bind('submit'),
    user: () => ({ id: () => analytics.status().userId, anonymousId: nothing, traits: nothing }),
    reset: analytics.reset,
    ready: later,
    on: (name: string, listener: SegmentCallback) => {
      const call = segment[name]!;
      segment[name] = (...args) => {
        later(() => listener(...(args as never[])));
        return call(...args);
      };
    },
  } as unknown as Methods;
  for (const name of REFUSED.split(' ')) segment[name] = method(unsupported(name));
  return segment as unknown as SegmentAnalytics;
};
