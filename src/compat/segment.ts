import { pageTags } from './browser/page-tags.js';
import { callBack } from './call-back.js';
import { refuse } from './refuse.js';
import type { Target } from './target.js';

export type SegmentCallback = (...args: never[]) => unknown;

/** Properties or traits, options, and a callback; any of them may be left out. Only the option `timestamp` is used. */
export type SegmentRest = (object | SegmentCallback | null | undefined)[];

/** Elements, then the event's name and its properties, each of which may be a function of the element. */
export type SegmentBind = (
  elements: Element | Iterable<Element> | null,
  event: string | ((element: Element) => string),
  properties?: object | ((element: Element) => object),
) => void;

/** The documented calls of Segment's Analytics.js 2.0 that have a counterpart. None throws. */
export interface SegmentAnalytics {
  /** An event whose tags are the properties. */
  track(event: string, ...rest: SegmentRest): Promise<void>;
  /** An event `Page Viewed`. */
  page(...args: (string | object | SegmentCallback | null | undefined)[]): Promise<void>;
  /** Without a user id it is about the identified user. */
  identify(userId?: string | number | object | null, ...rest: SegmentRest): Promise<void>;
  /** An event `Group Joined` with the tag `group_id`. */
  group(groupId: string | number, ...rest: SegmentRest): Promise<void>;
  /** Groups and their traits are not remembered. */
  group(): { id(): null; traits(): null };
  /** Tracks clicks of links. Does not hold up the browser: the record outlives the page. */
  trackLink: SegmentBind;
  /** Tracks submits of forms. */
  trackForm: SegmentBind;
  /** Ids of visitors and traits are not remembered. */
  user(): { id(): string | undefined; anonymousId(): null; traits(): null };
  reset(): void;
  /** Calls back at once: there is nothing to wait for. */
  ready(callback: () => unknown): void;
  /** Listens to calls of a method, with the arguments as they are given. */
  on(method: string, listener: SegmentCallback): void;
}

/** Calls without a counterpart. They exist so that calling them does not throw, and never call back. */
const REFUSED =
  'once off emit debug timeout register deregister use queryString setAnonymousId addSourceMiddleware addDestinationMiddleware';

type Methods = Record<string, (...args: unknown[]) => unknown>;

/**
 * Segment's documented calls, over an instance.
 * @example createSegment(analytics).track('Signed Up', { plan: 'pro' });
 */
export const createSegment = (analytics: Target): SegmentAnalytics => {
  /**
   * Makes a method of Segment: texts, properties, options and a callback, any of which may be left out. `run` returns
   * the event's name, and the tags beside the properties.
   */
  const method =
    (
      run: (texts: string[], properties?: object) => [name: string, tags?: object] | void,
      /** The index of the properties if no text is left out. `null` there means none, and the options come next. */
      place = 1,
    ) =>
    async (...args: unknown[]): Promise<void> => {
      try {
        args[place] ??= {};
        /** The arguments whose type begins like this: `o` for objects, `s` or `n` for texts, `f` for functions. */
        const of = (type: RegExp) => args.filter((value) => value && type.test(typeof value));
        of(/^f/).forEach((callback) => callBack(callback));
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
    alias: method(() => refuse(analytics, 'alias')),
    ready: async (callback?: unknown) => callBack(callback),
    on: (name: string, listener: SegmentCallback) => {
      const call = segment[name]!;
      segment[name] = (...args) => {
        callBack(listener, ...args);
        return call(...args);
      };
    },
  } as unknown as Methods;
  // Other names of the same.
  Object.assign(segment, {
    trackClick: segment.trackLink,
    trackSubmit: segment.trackForm,
    pageview: segment.page,
    screen: segment.page,
  });
  for (const name of REFUSED.split(' ')) segment[name] = async () => refuse(analytics, name);
  return segment as unknown as SegmentAnalytics;
};
