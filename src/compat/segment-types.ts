export type SegmentCallback = (...args: never[]) => unknown;

/**
 * Properties or traits, options and a callback, of which any may be left out. Of the options only `timestamp` has a
 * counterpart.
 */
export type SegmentRest = (object | SegmentCallback | null | undefined)[];

/** Elements, an event's name or what makes one of an element, and the same for its properties. */
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
