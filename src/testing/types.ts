import type { Analytics, Draft, Drop, EventBody, EventMap, IdentifyBody } from '../client/types.js';

/** An event as the service would get it. */
export type RecordedEvent<Tags extends object = object> = Omit<EventBody, 'tags'> & {
  tags?: Tags;
};

/** Records to ask for, in the order in which they were made. Each answer is a copy. */
export interface Recorded<Events extends EventMap<Events> = Record<string, object>> {
  /** Events and identifies, as the service would get them. */
  rows(this: void): Draft[];
  /** Events: all, or those with this name. */
  events<Name extends Extract<keyof Events, string>>(
    this: void,
    name?: Name,
  ): RecordedEvent<Events[Name] extends object ? Events[Name] : object>[];
  /** Identifies: all, or those of this user. */
  identifies(this: void, userId?: string): IdentifyBody[];
  /** Forgets all of them. */
  clear(this: void): void;
}

/** A call, with its arguments as they were given. */
export interface RecordedCall {
  method: 'init' | 'identify' | 'event' | 'flush' | 'reset' | 'setConsent' | 'stop';
  args: unknown[];
}

/**
 * An instance for tests, which records and sends nothing. Works without a page, and before `init` too, with the
 * project and the channel `test`.
 */
export interface TestAnalytics<
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
>
  extends Analytics<Events, Traits>, Recorded<Events> {
  /** All calls that do something, right or wrong. */
  calls(this: void): RecordedCall[];
  /** What was dropped, such as wrong calls, as `onDrop` is told. */
  drops(this: void): Drop[];
  /**
   * Forgets what was recorded, the user, and what was said about consent. Listeners and options stay, and `consent` is
   * told as after `init`.
   */
  clear(this: void): void;
}
