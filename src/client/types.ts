import type { EventBody, IdentifyBody, RecordType, Token } from '../interface/bodies.js';

export type { EventBody, IdentifyBody, RecordType, Token } from '../interface/bodies.js';

/** One identify or event waiting to be delivered. */
export interface OutboxRecord {
  /** A nanoid of 21 characters. With the option `idempotencyKey` it is sent as `Idempotency-Key`. */
  id: string;
  /** Which operation of the service takes it. */
  type: RecordType;
  /** The JSON text that goes on the wire, made once, at the call. */
  body: string;
  /** Time of the call, milliseconds since the epoch by the client's clock. */
  at: number;
  /** Requests that were started with the record so far. Those as a page is hidden or left do not count. */
  attempts: number;
  /** The `user_id` in the body, if it has one. Identifies and events of one user keep their order by it. */
  user?: string | undefined;
}

/** What `beforeSend` is called with: a copy of what will be sent, which it may change. */
export type Draft = { type: 'identify'; body: IdentifyBody } | { type: 'event'; body: EventBody };

/** The fields of an event, beside its name. Any other key beside them is a tag. */
export interface EventFields<Tags extends object = object> {
  /** Channel of this event. @default the `channel` option */
  channel?: string;
  /** A text that says more than the name. */
  description?: string;
  /** An emoji, or whatever else the service shows as an icon. */
  icon?: string;
  /** Whether the service is to notify. Left out, the service takes `false`. */
  notify?: boolean;
  /**
   * Your own data: any names, with any values that JSON can hold. If a tag is given here and also beside the fields,
   * the one given here counts.
   */
  tags?: Tags;
  /** The user, if it is not the identified one; `null` for an event without a user. @default the identified user */
  userId?: string | number | null;
  /** The service's own name for `userId`. If both are given, `userId` counts. */
  user_id?: string | null;
  /**
   * When it happened, if not now: a Date, or a text that begins with a year of four figures and that `Date` can read,
   * such as `2026-01-31T12:00:00Z`.
   * @default the time of the call
   */
  timestamp?: Date | string | { toJSON(): string };
}

/** Why a call or a record was dropped. `onDrop` is called for each. */
export type DropReason =
  /** The call's arguments are wrong; `message` says how. */
  | 'invalid-call'
  /** JSON cannot hold a value of it: a cyclic object, a BigInt, a getter that throws. */
  | 'not-serializable'
  /** An adapter for another tool was called with something that has no counterpart here. */
  | 'not-supported'
  /** The body is larger than `maxRecordBytes`. */
  | 'too-large'
  /** `beforeSend` returned null. */
  | 'before-send'
  /** `beforeSend` threw, returned something that is no draft, or made this call itself. */
  | 'before-send-error'
  /** Consent is denied. */
  | 'consent-denied'
  /**
   * There were more than `maxRecords` or `maxBytes`: the oldest events are dropped first. Or the page was left
   * without a database, and localStorage had no room for the record. Or more than 10,000 calls came before `init`.
   */
  | 'outbox-full'
  /** It was older than `maxAge`. */
  | 'expired'
  /** The service refused it: 400, 409, 413, 422, or a 2xx with `success: false` or an error's `code`. */
  | 'rejected'
  /** Another version stored it in a form that this version cannot read. */
  | 'unreadable';

/**
 * What became of a record in one request. `delivered`: the service has it. `retry`: it is sent again, after a
 * pause. `blocked`: the set-up may be wrong; it is sent again after growing pauses, or at once with new options.
 * `rejected`: the service refused this record, and it is dropped. `unknown`: the page went away before the answer.
 */
export type Outcome = 'delivered' | 'retry' | 'blocked' | 'rejected' | 'unknown';

/** A dropped call or record. */
export interface Drop {
  reason: DropReason;
  /** What was wrong, for a developer to read. */
  message: string;
  /** The record; left out if the call never became one. */
  record?: OutboxRecord | undefined;
}

/** Something that the developer has to look at. */
export interface DeliveryError {
  /**
   * - `setup`: the service or the relay refuses requests (401, 403, 404, 405 or a redirect), or the relay does not
   *   list a project or channel. Records wait.
   * - `token`: the function `token` failed, or gave no token. Records wait.
   * - `unreachable`: nothing answers, though the browser is online. Records wait.
   */
  kind: 'setup' | 'token' | 'unreachable';
  /** What is wrong, for a developer to read. */
  message: string;
  /** HTTP status of the answer, if there was one. */
  status?: number | undefined;
}

/**
 * Where records are kept. `none`: no database is open, since storage may not be used (consent is not granted, or
 * the page is prerendered). `opening`: the database is being opened. `memory`: the database does not work.
 */
export type StorageKind = 'none' | 'opening' | 'indexeddb' | 'memory';

/** Consent of the visitor to storing and sending records. */
export type Consent = 'granted' | 'pending' | 'denied';

/** What is going on now. The counts of what has ended begin as the page is loaded. */
export interface Status {
  /** Where records are kept. */
  storage: StorageKind;
  /** Consent as it holds now. */
  consent: Consent;
  /** Records in this page's care that wait to be sent. Before `init`, calls that wait for it, `reset()` among them. */
  waiting: number;
  /** Stored records of other pages, open or dead, when this page last looked; `undefined` before its first look. */
  elsewhere?: number | undefined;
  /** Records whose request has no answer yet. */
  inFlight: number;
  /** Records that the service or the relay has taken. */
  delivered: number;
  /**
   * Records whose page was left or killed before it saw the answer; they are not sent again. Always 0 with
   * a relay or with `idempotencyKey`, where they are sent again.
   */
  unknown: number;
  /** Dropped calls and records by reason; a reason that has not occurred is missing. */
  dropped: Partial<Record<DropReason, number>>;
  /**
   * Why nothing is sent; `undefined` if something may be.
   * - `not-started`: `init` has not been called yet, or not since `stop`.
   * - `disabled`: the option `disabled` is on.
   * - `no-page`: this is a server or a worker.
   * - `consent`: consent is not granted, the page is prerendered, or what a denial has left is being erased.
   * - `backoff`: a request has failed, or the network is just back.
   * - `setup`: the service or the relay refuses the set-up, or there is no token.
   * - `unreachable`: three attempts in a row had no answer.
   * - `offline`: the browser says that it is offline.
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
  /** Earliest time of the next attempt, milliseconds since the epoch; `undefined` if none is known. */
  nextAttempt?: number | undefined;
  /** The identified user; `undefined` before the first `identify` and after `reset`. */
  userId?: string | undefined;
}

/** What became of records during a `flush()`. */
export interface FlushResult {
  /** Records that the service or the relay has taken. */
  delivered: number;
  /** Attempts that failed, whose records are sent again. */
  retried: number;
  /** Records that the service refused. */
  rejected: number;
  /** Records that still wait. Before `init`, calls that wait for it, `reset()` among them. */
  waiting: number;
}

/** The events of `analytics.on`, each with what its listeners are called with. */
export interface Listeners {
  /** A call became a record. */
  record: OutboxRecord;
  /** A request with the record was started. `handoff`: the page is hidden or on its way out. */
  sent: { record: OutboxRecord; handoff: boolean };
  /** The record's request came to an end, or can no longer be followed (`unknown`). `status`: of the HTTP answer. */
  outcome: { record: OutboxRecord; outcome: Outcome; status?: number | undefined };
  /** A call or a record was dropped. */
  drop: Drop;
  /** The developer has to look at something. */
  error: DeliveryError;
  /** Records are kept somewhere else from now on. `message`: why, if the database has failed. */
  storage: { storage: StorageKind; message: string };
  /** Consent as it holds from now on: after `init`, and after each change. */
  consent: { consent: Consent };
  /** `reset` was called. */
  reset: object;
}

/** Options of both forms. Each has an attribute on the script tag (`flushAt` is `data-flush-at`). */
export interface CommonOptions {
  /** Project ID of every record: a non-empty text. */
  project: string;
  /** Channel ID of events that name none: a non-empty text. */
  channel: string;
  /** Flush as soon as this many new records wait. @default 20; with `relay` 50, a full batch */
  flushAt?: number;
  /** Flush this many milliseconds after the first new record. @default 1000 */
  flushInterval?: number;
  /** Send this many requests at a time; by relay, one batch at a time. @default 6 */
  concurrency?: number;
  /**
   * Give up a request that has had no answer for this many milliseconds (1000 to 600000), and send its records again.
   * @default 30000
   */
  timeout?: number;
  /** Drop a record that is older than this many milliseconds. @default 604800000 (7 days) */
  maxAge?: number;
  /** Keep at most this many records. The oldest events are dropped first, identifies last. @default 10000 */
  maxRecords?: number;
  /** Keep records whose bodies have at most this many bytes in all. @default 5000000 */
  maxBytes?: number;
  /** Drop a record whose body has more bytes than this. @default 60000 */
  maxRecordBytes?: number;
  /**
   * Treat consent as denied while the browser has Global Privacy Control on, whatever `setConsent` says. Stored
   * records are deleted; the denial ends when the browser switches the signal off. @default false
   */
  respectGpc?: boolean;
  /**
   * `granted` stores and sends records, `pending` keeps them in memory, `denied` keeps none.
   * @default 'denied' if an earlier denial is remembered, else 'granted'
   */
  consent?: Consent;
  /**
   * Tags of every event, or a function that is called for them at each event, with the tags that the call gives. A tag
   * given at the call overrides one of the same name in here. @default none
   */
  context?: object | ((known: Readonly<Record<string, unknown>>) => object | undefined);
  /**
   * Called with every record before it is stored. It may change the draft, or return `null` to drop it. It must be
   * synchronous. If it throws, the record is dropped. The user is what it leaves as the `user_id` of an identify, and an
   * id that it has made is not changed again. @default none
   */
  beforeSend?: (draft: Draft) => Draft | null;
  /** Called for every dropped call or record. @default none */
  onDrop?: (drop: Drop) => void;
  /**
   * Called once when the set-up is wrong (token, address) or nothing answers. It is called again for the set-up only after
   * the options have changed or the network was away, and for the silence only after something has answered.
   * @default none
   */
  onError?: (error: DeliveryError) => void;
  /** Do nothing. The methods and types stay, and all other options may be left out. @default false */
  disabled?: boolean;
  /** Log to the console what becomes of each record, where the developers' file is loaded. @default false */
  debug?: boolean;
  /**
   * Used in place of the global `fetch`. As a page is left, neither beacons nor `fetchLater` are used then.
   * @default the global `fetch`
   */
  fetch?: typeof fetch;
  /** Dates calls in place of `Date.now`: milliseconds since the epoch. @default Date.now */
  now?: () => number;
}

/** Options for sending straight to the service, with its token in the page. */
export interface DirectOptions extends CommonOptions {
  /** Address of the service: an absolute http(s) URL. `/v1/event` and `/v1/identify` are added to it. */
  baseUrl: string;
  /**
   * API token, sent as `Authorization: Bearer`: ASCII characters without spaces. Or a function that gives one; it is
   * called when a token is first needed, and once more after a 401. A token is never stored.
   */
  token: Token;
  relay?: undefined;
  /**
   * Send the record's id as `Idempotency-Key`, and send again what is `unknown`. Only for a service that
   * removes duplicates, and whose CORS answer allows the header. @default false
   */
  idempotencyKey?: boolean;
}

/** Options for sending through a relay, which holds the token. */
export interface RelayOptions extends CommonOptions {
  /** Address of the relay: a path of this site, or an absolute http(s) URL. `/v1/batch` is added to it. */
  relay: string;
  baseUrl?: undefined;
  token?: undefined;
  idempotencyKey?: undefined;
}

/** Options of an instance that does nothing, for tests and previews: all others may be left out. */
export interface DisabledOptions extends Partial<CommonOptions> {
  /** Do nothing. */
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

/** The names of an event map. */
export type EventName<Events extends object> = Extract<keyof Events, string>;
type TagsOf<Events extends object, Name extends keyof Events> = Events[Name] extends object
  ? Events[Name]
  : object;
type Requires<Tags extends object> = Record<never, never> extends Tags ? false : true;
/** Keys that are fields of an event. A tag of such a name has to be given in `tags`. */
type Reserved = keyof EventFields;
type TagValue<Tags extends object> = Tags[keyof Tags];

/** All tags in `tags`. */
type TagsInside<Tags extends object> = EventFields<Tags> &
  (Requires<Tags> extends true ? { tags: Tags } : unknown);
/** Tags beside the fields, if none of them has the name of a field. Some may still be in `tags`. */
type TagsBeside<Tags extends object> = [keyof Tags] extends [never]
  ? EventFields & Record<string, unknown> // any tags
  : string extends keyof Tags
    ? [TagValue<Tags>] extends [never]
      ? never // no tags
      : EventFields<Tags> & Record<string, TagValue<Tags> | EventFields<Tags>[Reserved]>
    : keyof Tags & Reserved extends never
      ? EventFields<Partial<Tags>> & Tags
      : never;

/** The second argument of `event` for an event with these tags: in `tags`, or beside the fields. */
export type EventGiven<Tags extends object = object> = TagsInside<Tags> | TagsBeside<Tags>;

/**
 * The arguments of `event` after the name. The second argument is required only if a tag is. For a name that is not
 * in the map anything is allowed, so that the compiler complains about the name.
 */
export type EventArguments<Events extends object, Name> = Name extends keyof Events
  ? Requires<TagsOf<Events, Name>> extends true
    ? [fields: EventGiven<TagsOf<Events, Name>>]
    : [fields?: EventGiven<TagsOf<Events, Name>>]
  : [fields?: unknown];

/** The arguments of `identify` after the id. The properties are required only if a member of the traits is. */
export type IdentifyArguments<Traits extends object> =
  Requires<Traits> extends true ? [properties: Traits] : [properties?: Traits];

/**
 * The tracker. Only `init` throws, if options are wrong. No method needs its `this`:
 * `const { event } = analytics` works.
 */
export interface Analytics<
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
  Init extends object = Options,
> {
  /**
   * Starts delivery. Calls made before are kept with their times. Called again with the same options, it does
   * nothing; with others, it re-configures.
   * @throws TypeError that names every wrong, unknown or missing option; in development also what to write.
   * @example analytics.init({ baseUrl: 'https://in.example.com', token: 'tok', project: 'shop', channel: 'web' })
   * @example analytics.init({ relay: '/a', project: 'shop', channel: 'web' })
   */
  init(this: void, options: DisabledOptions): void;
  init(this: void, options: Init): void; // the last overload: the compiler's errors speak of it
  /**
   * Creates or updates the user's profile. Later events carry the user, on later pages too, until `reset`. Properties
   * are any names, each with any value that JSON can hold. A wrong call is dropped with a reason (`onDrop`).
   * @example analytics.identify('user_1', { plan: 'pro' })
   */
  identify(this: void, userId: string | number, ...rest: IdentifyArguments<Traits>): void;
  /**
   * Records an event. A key of the second argument that is no field of an event is a tag. A wrong call is dropped
   * with a reason (`onDrop`).
   * @example analytics.event('Signed Up', { plan: 'pro' })
   * @example analytics.event('Signed Up', { icon: '🎉', tags: { plan: 'pro' } })
   */
  event<Name extends string>(
    this: void,
    name: Name extends EventName<Events> ? Name : EventName<Events>,
    ...rest: EventArguments<Events, Name>
  ): void;
  /**
   * Tries at once to send everything that waits. Resolves when all of it has had its attempt, or cannot have one for
   * now. Never rejects.
   */
  flush(this: void): Promise<FlushResult>;
  /** Forgets the identified user, as after a logout. Records that wait keep their user. */
  reset(this: void): void;
  /**
   * Sets consent for all instances of the project on the page. `granted` stores and sends records, `pending` keeps
   * them in memory, `denied` drops them, erases all that is stored for the project, and forgets the user. Later pages
   * remember a denial.
   */
  setConsent(this: void, consent: Consent): void;
  /** Returns what is going on now. */
  status(this: void): Status;
  /**
   * Takes everything down: listeners on the page and those of `on`, timers and requests. Records in the outbox are
   * left to the next page, or to `init`, which starts anew. For tests, hot reload and micro-frontends.
   */
  stop(this: void): void;
  /**
   * Calls `listener` for each event of this type. Returns a function that removes the listener.
   * @example const stop = analytics.on('drop', ({ reason, message }) => console.warn(reason, message));
   */
  on<Type extends keyof Listeners>(
    this: void,
    type: Type,
    listener: (payload: Listeners[Type]) => void,
  ): () => void;
}

/** Makes a tracker, and calls its `init` if options are given. */
export interface CreateAnalytics<Init extends object> {
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options: DisabledOptions,
  ): Analytics<Events, Traits, Init>;
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options?: Init,
  ): Analytics<Events, Traits, Init>;
}

/**
 * The script tag's global, also until its file has loaded.
 * @example declare global { interface Window { analytics: TagAnalytics } }
 */
export type TagAnalytics<
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
> = Analytics<Events, Traits>;

/** Tells the listeners of an event. */
export type Emit = <Type extends keyof Listeners>(type: Type, payload: Listeners[Type]) => void;
