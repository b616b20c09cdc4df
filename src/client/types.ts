import type { EventBody, IdentifyBody, RecordType, Token } from '../interface/bodies.js';

export type { EventBody, IdentifyBody, RecordType, Token } from '../interface/bodies.js';

/** One identify or event waiting to be delivered. */
export interface OutboxRecord {
  /** Unique per record (nanoid); the `Idempotency-Key` where that option is on. */
  id: string;
  type: RecordType;
  /** The JSON text that goes on the wire, made once, at the call. */
  body: string;
  /** Time of the call, milliseconds since the epoch by the client's clock. */
  at: number;
  /** Attempts this page has made so far. */
  attempts: number;
  /** The `user_id` in the body, where it has one: identifies and events of one user keep their order. */
  user?: string;
}

/** What `beforeSend` sees: a copy, free to change. */
export type Draft = { type: 'identify'; body: IdentifyBody } | { type: 'event'; body: EventBody };

/** Fields of an event beside its name. Any other key beside them is a tag. */
export interface EventFields<Tags extends object = object> {
  /** Channel of this event. @default the `channel` option */
  channel?: string;
  description?: string;
  /** An emoji or whatever the service shows as icon. */
  icon?: string;
  /** Ask the service to notify. @default false, by the service */
  notify?: boolean;
  /** Free-form, anything JSON can carry. Of a tag that is given twice, the one in here counts. */
  tags?: Tags;
  /** Another user than the identified one; `null` leaves the user out. @default the identified user */
  userId?: string | null;
  /** The service's own name for `userId`, which counts where both are given. */
  user_id?: string | null;
  /** When it happened, if not now. @default the time of the call */
  timestamp?: Date | string;
}

/** Why a record was dropped. Every drop has one and reaches `onDrop`. */
export type DropReason =
  /** The call's arguments are wrong; `message` says how. */
  | 'invalid-call'
  /** JSON cannot carry it: cyclic, BigInt, a getter that throws. */
  | 'not-serializable'
  /** The body is larger than `maxRecordBytes`. */
  | 'too-large'
  /** `beforeSend` returned null. */
  | 'before-send'
  /** `beforeSend` threw, or returned no record. */
  | 'before-send-error'
  /** Consent is denied. */
  | 'consent-denied'
  /**
   * The outbox was over `maxRecords` or `maxBytes`; oldest events go first. Or there is no database, the page is
   * left, and localStorage has no room for it.
   */
  | 'outbox-full'
  /** Older than `maxAge`. */
  | 'expired'
  /** The service refused it: 400, 409, 413, 422, or a 2xx that says `success: false`. */
  | 'rejected'
  /** Stored in a form this version cannot read. */
  | 'unreadable';

/** What one attempt came to. */
export type Outcome = 'delivered' | 'retry' | 'blocked' | 'rejected' | 'unknown';

/** A dropped record. */
export interface Drop {
  reason: DropReason;
  /** What was wrong, for a developer to read. */
  message: string;
  /** Missing where the call never became a record. */
  record?: OutboxRecord;
}

/** Something that needs the developer. */
export interface DeliveryError {
  /**
   * `setup`: the service answers 401, 403, 404, 405 or a redirect, or the relay does not list a project or
   * channel. `token`: the token function failed, or gave no token. Delivery waits. `call`: something in a call
   * was probably meant otherwise, such as a field that is misspelt. The record goes out, and nothing is lost.
   * `unreachable`: nothing answers though the browser is online; told once until something does. Records wait.
   */
  kind: 'setup' | 'token' | 'call' | 'unreachable';
  message: string;
  /** HTTP status, where there was an answer. */
  status?: number;
}

/** Where records are kept: `none` until storage may be used (consent, prerendering). */
export type StorageKind = 'none' | 'opening' | 'indexeddb' | 'memory';

/** Consent to store and send. */
export type Consent = 'granted' | 'pending' | 'denied';

/** Counts since this page was loaded. */
export interface Status {
  storage: StorageKind;
  consent: Consent;
  /** Records in this page's care that wait to be sent. */
  waiting: number;
  /** Records that other pages hold, open or dead, as this page has last seen; `undefined` before it has looked. */
  elsewhere: number | undefined;
  /** Records whose request has no answer yet. */
  inFlight: number;
  delivered: number;
  /** Records in requests of pages now gone, whose answer was never seen. Not sent again (see `idempotencyKey`); 0 with a relay. */
  unknown: number;
  dropped: Partial<Record<DropReason, number>>;
  /**
   * Why nothing is being sent, or undefined. `not-started`: `init` has not been called, or not since `stop`.
   * `disabled`: by that option. `no-page`: on a server or in a worker.
   */
  paused:
    | 'not-started'
    | 'disabled'
    | 'no-page'
    | 'backoff'
    | 'setup'
    | 'unreachable'
    | 'offline'
    | 'consent'
    | undefined;
  /** Earliest time of the next attempt, milliseconds since the epoch, where one is known. */
  nextAttempt: number | undefined;
  /** The identified user. */
  userId: string | undefined;
}

/** What a flush came to. */
export interface FlushResult {
  delivered: number;
  retried: number;
  rejected: number;
  /** Records still waiting when it settled. */
  waiting: number;
}

/** Payloads of `analytics.on`. */
export interface Listeners {
  /** A call became a record. */
  record: OutboxRecord;
  /** A request was started; `handoff` when the page is on its way out. */
  sent: { record: OutboxRecord; handoff: boolean };
  /** A request came to an end (or, for `unknown`, can no longer be followed). */
  outcome: { record: OutboxRecord; outcome: Outcome; status?: number };
  drop: Drop;
  error: DeliveryError;
  storage: { storage: StorageKind; message: string };
  /** Consent as it holds from now on: when `init` has found it out, and after each change. */
  consent: { consent: Consent };
  /** `reset` was called. */
  reset: object;
}

/** Options of both forms. Each has a `data-` form on the script tag (`flushAt` is `data-flush-at`). */
export interface CommonOptions {
  /** Project ID of every record. */
  project: string;
  /** Channel ID of events that name none. */
  channel: string;
  /** Records waiting that start a flush at once; with `relay` a full batch, 50. @default 20 */
  flushAt?: number;
  /** Milliseconds from the first waiting record to its flush. @default 1000 */
  flushInterval?: number;
  /** Requests at a time; to the page's own origin never more than two. @default 6 */
  concurrency?: number;
  /** Milliseconds until a request without an answer is given up and tried again; 100 at the least. @default 30000 */
  timeout?: number;
  /** Milliseconds a record is kept. @default 604800000 (7 days) */
  maxAge?: number;
  /** Records kept at the most. @default 10000 */
  maxRecords?: number;
  /** Bytes of bodies kept at the most. @default 5000000 */
  maxBytes?: number;
  /** Bytes of one body at the most. @default 60000 */
  maxRecordBytes?: number;
  /**
   * Treat consent as denied for as long as the browser has Global Privacy Control on, whatever `setConsent`
   * says. What is stored is deleted, and the denial ends with the signal. @default false
   */
  respectGpc?: boolean;
  /** `pending` keeps records in memory only, `denied` keeps none. @default 'granted' */
  consent?: Consent;
  /**
   * Tags of every event, or a function that is asked for them at each call. A tag that is given at the call wins.
   */
  context?: object | (() => object | undefined);
  /** Sees every record before it is stored; may change it, or return null to drop it. Synchronous. */
  beforeSend?: (draft: Draft) => Draft | null;
  /** Hears of every dropped record. */
  onDrop?: (drop: Drop) => void;
  /** Called once when the set-up is wrong (token, address) or nothing answers, and once for each slip in a call. */
  onError?: (error: DeliveryError) => void;
  /** Do nothing, with the same types: for tests and previews. @default false */
  disabled?: boolean;
  /** Log to the console what becomes of each record, and what is wrong. @default false */
  debug?: boolean;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch;
  /** In place of `Date.now`. */
  now?: () => number;
}

/** Straight to the service, with its token in the page. */
export interface DirectOptions extends CommonOptions {
  /** Address of the service, to which `/v1/event` and `/v1/identify` are added. */
  baseUrl: string;
  /** API token, sent as `Authorization: Bearer`: ASCII characters without spaces. Never stored. */
  token: Token;
  relay?: undefined;
  /**
   * Send the record's id as `Idempotency-Key`, and send again what is `unknown`: for a service that
   * removes repeats. Its CORS answer must allow the header. @default false
   */
  idempotencyKey?: boolean;
}

/** Through a relay, which holds the token. */
export interface RelayOptions extends CommonOptions {
  /**
   * Address of the relay: a path of this site, or an absolute http(s) URL. `/v1/batch` is added to it.
   */
  relay: string;
  baseUrl?: undefined;
  token?: undefined;
  idempotencyKey?: undefined;
}

/** An instance that does nothing, for tests and previews: all other options may be left out. */
export interface DisabledOptions extends Partial<CommonOptions> {
  disabled: true;
  baseUrl?: string;
  token?: Token;
  relay?: string;
  idempotencyKey?: boolean;
}

/** Options of `init`: with `baseUrl` and `token`, or with `relay`. */
export type Options = DirectOptions | RelayOptions;

/** Event names, each with the type of its tags. Interfaces and type literals both fit. */
export type EventMap<Events extends object> = { [Name in keyof Events]: object };

type Named<Events extends object> = Extract<keyof Events, string>;
type TagsOf<Events extends object, Name extends keyof Events> = Events[Name] extends object
  ? Events[Name]
  : object;
type Requires<Tags extends object> = Record<never, never> extends Tags ? false : true;
/** Keys that are fields of an event: a tag of that name stands in `tags`. */
type Reserved = keyof EventFields;
type TagValue<Tags extends object> = Tags[keyof Tags];

/** All tags in `tags`. */
type TagsInside<Tags extends object> = EventFields<Tags> &
  (Requires<Tags> extends true ? { tags: Tags } : unknown);
/** Tags beside the fields, where their names allow it; some may still be in `tags`. */
type TagsBeside<Tags extends object> = [keyof Tags] extends [never]
  ? EventFields & Record<string, unknown> // any tags
  : string extends keyof Tags
    ? [TagValue<Tags>] extends [never]
      ? never // no tags
      : EventFields<Tags> & Record<string, TagValue<Tags> | EventFields<Tags>[Reserved]>
    : keyof Tags & Reserved extends never
      ? EventFields<Partial<Tags>> & Tags
      : never;

/** Fields of an event with these tags: in `tags`, or beside the fields. */
export type EventGiven<Tags extends object = object> = TagsInside<Tags> | TagsBeside<Tags>;

/**
 * An event needs its second argument only where its tags have a required member. Of an unknown event nothing
 * is asked, so that the error is about its name.
 */
export type EventArguments<Events extends object, Name> = Name extends keyof Events
  ? Requires<TagsOf<Events, Name>> extends true
    ? [fields: EventGiven<TagsOf<Events, Name>>]
    : [fields?: EventGiven<TagsOf<Events, Name>>]
  : [fields?: unknown];

/** A user needs properties only where the traits have a required member. */
export type IdentifyArguments<Traits extends object> =
  Requires<Traits> extends true ? [properties: Traits] : [properties?: Traits];

/**
 * The tracker. None of its methods throws, but `init`, on wrong options. None needs its `this`: they can be
 * taken out of it, `const { event } = analytics`.
 */
export interface Analytics<
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
  Init extends object = Options,
> {
  /**
   * Starts delivery. Calls made earlier are kept with their time. Again with the same options it does
   * nothing; with others it re-configures.
   * @throws TypeError that names the wrong option and what to write.
   * @example analytics.init({ baseUrl: 'https://in.example.com', token: 'tok', project: 'shop', channel: 'web' })
   * @example analytics.init({ relay: '/a', project: 'shop', channel: 'web' })
   */
  init(this: void, options: DisabledOptions): void;
  init(this: void, options: Init): void; // the last one, since errors speak of it
  /**
   * Creates or updates the user's profile, and stamps later events with the user, on later pages too.
   * @example analytics.identify('user_1', { plan: 'pro' })
   */
  identify(this: void, userId: string, ...rest: IdentifyArguments<Traits>): void;
  /**
   * Records an event. A key that is no field of an event is a tag.
   * @example analytics.event('Signed Up', { plan: 'pro' })
   * @example analytics.event('Signed Up', { icon: '🎉', tags: { plan: 'pro' } })
   */
  event<Name extends string>(
    this: void,
    name: Name extends Named<Events> ? Name : Named<Events>,
    ...rest: EventArguments<Events, Name>
  ): void;
  /** Attempts what is due now; settles when all of it has had its attempt. Never rejects. */
  flush(this: void): Promise<FlushResult>;
  /** Forgets the identified user (a logout). What is waiting keeps the user it was stamped with. */
  reset(this: void): void;
  /**
   * `granted` goes on, `pending` holds in memory, `denied` forgets and clears. A denial is remembered. Counts for
   * all instances of the project on the page.
   */
  setConsent(this: void, consent: Consent): void;
  status(this: void): Status;
  /**
   * Takes everything down: listeners on the page and of `on`, timers and requests. What waits in the outbox is
   * left for the next page, or for `init`, which starts anew. For tests, hot reload and micro-frontends.
   */
  stop(this: void): void;
  /** Listens; returns the function that stops listening. */
  on<Type extends keyof Listeners>(
    this: void,
    type: Type,
    listener: (payload: Listeners[Type]) => void,
  ): () => void;
}

/** Makes a tracker, and sets it up where options are given. */
export interface CreateAnalytics<Init extends object> {
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options: DisabledOptions,
  ): Analytics<Events, Traits, Init>;
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options?: Init,
  ): Analytics<Events, Traits, Init>;
}

/**
 * The script tag's global. Until the script has come, it is the stub, whose `on` promises the function that
 * stops listening.
 * @example declare global { interface Window { analytics: TagAnalytics } }
 */
export interface TagAnalytics<
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
> extends Omit<Analytics<Events, Traits>, 'on'> {
  on<Type extends keyof Listeners>(
    this: void,
    type: Type,
    listener: (payload: Listeners[Type]) => void,
  ): (() => void) | Promise<() => void>;
}
