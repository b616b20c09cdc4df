import { isToken, TOKEN_WORDS } from '../../interface/is-token.js';
import type { Token } from '../../interface/bodies.js';
import type { Hooks } from '../hooks.js';
import type { Putter, Seen } from '../queue/ports.js';
import type { Rate, RateLimit } from './rate-limit.js';
import type { ServiceFetch } from '../service-fetch.js';

/** Options of `createRelay`. */
export interface RelayOptions extends Hooks {
  /** Address of the service, to which `/v1/event` and `/v1/identify` are added. */
  baseUrl: string;
  /** The service's token, or a function that gets it; asked again once after a 401. */
  token: Token;
  /** Origins whose pages may send, each as `https://shop.example`. The relay's own has to be named, too. */
  origins: readonly string[];
  /** Project IDs that may be written to. Records of others are `blocked` with 403, and pages keep them. */
  projects: readonly string[];
  /** Channel IDs that may be written to. Events of others are `blocked` with 403, and pages keep them. */
  channels: readonly string[];
  /** Take requests without an `Origin` that no browser has made: servers, tests. @default false */
  allowMissingOrigin?: boolean | undefined;
  /**
   * Asked before the body is read; `false` refuses with 403. It may read the headers (a session cookie,
   * say), not the body. Where it fails, or takes longer than `timeout`, the answer is 503.
   */
  authorize?: ((request: Request) => boolean | Promise<boolean>) | undefined;
  /**
   * The client's address, from where the platform says it: the socket on Node, `cf-connecting-ip` on
   * Cloudflare. `X-Forwarded-For` is only to be believed behind a proxy that writes it. Required, unless
   * `rateLimit` is `false`: without it clients cannot be told apart. Clients of one IPv6 network (/64)
   * count as one, and so do those for whom it gives nothing.
   */
  clientAddress?: ((request: Request) => string | undefined) | undefined;
  /**
   * Records a client may send, in memory of this process, or a function that decides; `false` is no
   * limit. @default { perSecond: 100, burst: 1000 }
   */
  rateLimit?: Rate | RateLimit | false | undefined;
  /**
   * Records that all clients together may send, in memory of this process; `false` is no limit.
   * @default { perSecond: 2000, burst: 20000 }
   */
  ceiling?: Rate | false | undefined;
  /**
   * Send the truncated client address (24 bits of IPv4, 48 of IPv6) to the service as
   * `X-Forwarded-For`. Not for records that go through a queue. @default false
   */
  forwardAddress?: boolean | undefined;
  /** Bytes of a body at the most, as sent and as inflated. @default 1048576 */
  maxBytes?: number | undefined;
  /** Milliseconds until the whole body must have come. @default 10000 */
  bodyTimeout?: number | undefined;
  /**
   * Milliseconds after which no try at the service starts for a request. A store or a queue has as long to
   * answer, or the records are answered `retry`. @default 15000
   */
  deadline?: number | undefined;
  /**
   * Milliseconds one try at the service may take, and each of `authorize`, `rateLimit` and `token`.
   * @default 10000
   */
  timeout?: number | undefined;
  /**
   * Requests to the service at a time at the most, over all batches. It begins with 4, and again after a
   * failure or when nothing was under way; each success makes room for one more. @default 32
   */
  concurrency?: number | undefined;
  /**
   * Records that are under way to the service or wait for it at the most; what comes beyond is answered 503.
   * @default 10000
   */
  maxPending?: number | undefined;
  /** Failures in a row after which the service is left alone for a while. @default 4 */
  failures?: number | undefined;
  /** Send the record's id to the service as `Idempotency-Key`. @default true */
  idempotencyKey?: boolean | undefined;
  /** The ids that have been passed on. @default in memory: 100,000 ids, a day */
  seen?: Seen | undefined;
  /** Answer `accepted` as soon as this has a record; a consumer delivers it. @default none */
  queue?: Putter | undefined;
  /** In place of the global `fetch`; on Node, `createNodeFetch` of `relay/node` costs far less. */
  fetch?: ServiceFetch | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

interface Kind {
  words: string;
  fits: (value: unknown) => boolean;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isPositive = (value: unknown): boolean => Number.isFinite(value) && (value as number) > 0;
const isList = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(fits);
/** An object with these methods. */
const port = (...names: readonly string[]): Kind => ({
  words: `an object with ${names.join(', ')}`,
  fits: (value) => names.every((name) => isFunction((value as Record<string, unknown>)?.[name])),
});

const isHttpUrl = (value: unknown): boolean =>
  isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
/** As a browser writes it: no path, no slash at the end, no default port. */
const isOrigin = (value: unknown): boolean =>
  isHttpUrl(value) && new URL(value as string).origin === value;
const isRate = (value: unknown): boolean => {
  const { perSecond, burst } = (value ?? {}) as Partial<Rate>;
  return isPositive(perSecond) && isPositive(burst);
};

const flag: Kind = { words: 'true or false', fits: (value) => typeof value === 'boolean' };
const callback: Kind = { words: 'a function', fits: isFunction };
const positive: Kind = { words: 'a positive number', fits: isPositive };
const texts: Kind = {
  words: 'a list of strings',
  fits: (value) => isList(value, isText),
};

/** The one list of options, tied to their type. */
const REGISTRY: Record<keyof RelayOptions, Kind> = {
  baseUrl: { words: 'an http(s) URL', fits: isHttpUrl },
  token: {
    words: `${TOKEN_WORDS}, or a function`,
    fits: (value) => isFunction(value) || isToken(value),
  },
  origins: {
    words: 'a list of origins like "https://shop.example"',
    fits: (value) => isList(value, isOrigin),
  },
  projects: texts,
  channels: texts,
  allowMissingOrigin: flag,
  authorize: callback,
  clientAddress: callback,
  rateLimit: {
    words: '{ perSecond, burst }, a function, or false',
    fits: (value) => value === false || isFunction(value) || isRate(value),
  },
  ceiling: {
    words: '{ perSecond, burst }, or false',
    fits: (value) => value === false || isRate(value),
  },
  forwardAddress: flag,
  maxBytes: positive,
  bodyTimeout: positive,
  deadline: positive,
  timeout: positive,
  concurrency: positive,
  maxPending: positive,
  failures: positive,
  idempotencyKey: flag,
  seen: port('begin', 'finish', 'forget'),
  queue: port('put'),
  onMetric: callback,
  onError: callback,
  fetch: callback,
  now: callback,
  random: callback,
};

const REQUIRED = ['baseUrl', 'token', 'origins', 'projects', 'channels'] as const;

/** Not its value: it may be the token. */
const wrong = (name: string, problem: string): never => {
  throw new TypeError(`createRelay: option \`${name}\` ${problem}`);
};

/** Throws a TypeError that names the wrong option and what to write. */
export const checkOptions = (options: RelayOptions): void => {
  if (typeof options !== 'object' || !options) {
    throw new TypeError('createRelay: expected an object of options');
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(REGISTRY, name)) wrong(name, 'does not exist');
    const { words, fits } = REGISTRY[name as keyof RelayOptions];
    if (value !== undefined && !fits(value)) wrong(name, `must be ${words}`);
  }
  for (const name of REQUIRED) {
    if (options[name] === undefined) wrong(name, `is missing: give ${REGISTRY[name].words}`);
  }
  if (!options.clientAddress && options.rateLimit !== false) {
    wrong(
      'clientAddress',
      "is missing: give a function that gets the client's address from a request, or " +
        '`rateLimit: false` where no client is to be limited',
    );
  }
  if (options.forwardAddress && !options.clientAddress) {
    wrong('forwardAddress', 'needs `clientAddress`: a function');
  }
};
