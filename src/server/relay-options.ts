import {
  callback,
  flag,
  isFunction,
  isPositive,
  isText,
  timer,
  type Kind,
} from '../interface/kinds.js';
import { checkOptions, HOOK_KINDS, type Kinds, type OptionCheck } from './check-options.js';
import { DELIVERY_KINDS, type DeliveryOptions } from './deliver/delivery.js';
import type { Hooks } from './hooks.js';
import type { AdmissionOptions, Rate } from './http/admission.js';
import { isNetwork } from './http/networks.js';
import { isOrigin, ORIGIN_WORDS, type Origins } from './http/origin.js';
import type { IgnoringOptions } from './ignoring.js';
import type { Names } from './records.js';

/** Options of every server: who may send, and how much. */
export interface ServerOptions extends Hooks, AdmissionOptions, IgnoringOptions {
  /**
   * Called with a request from a page before its body is read; `false` refuses it with 403. It may read the headers (a
   * session cookie, say), not the body. If it fails, or takes longer than `timeout`, the answer is 503.
   */
  authorize?: ((request: Request) => boolean | Promise<boolean>) | undefined;
  /**
   * Milliseconds after which no request to a service starts while a sender waits. Then the sender is asked to wait.
   * @default 15000
   */
  deadline?: number | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
}

/** Options of `createRelay`. */
export interface RelayOptions extends ServerOptions, DeliveryOptions {
  /**
   * Origins whose pages may send, the relay's own too: `https://shop.example`, `https://*.shop.example`, or a function
   * that decides.
   */
  origins: Origins;
  /** Projects that may be written to; `'*'` for any. Records of others are `blocked` with 403, and pages keep them. */
  projects: Names;
  /** Channels that events may be in; `'*'` for any. Events of others are `blocked` with 403, and pages keep them. */
  channels: Names;
  /**
   * Send the truncated client address to the service as `X-Forwarded-For`: 24 bits of IPv4, 48 of IPv6. @default false
   */
  forwardAddress?: boolean | undefined;
}

export const isList = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(fits);
export const isRate = (value: unknown): boolean => {
  const { perSecond, burst } = (value ?? {}) as Partial<Rate>;
  return isPositive(perSecond) && isPositive(burst);
};

/** Whether a value may be the name of a project or channel. One with a `*` is most likely meant as a pattern. */
export const isName = (value: unknown): value is string => isText(value) && !value.includes('*');

export const names: Kind = {
  words: 'a list of names without "*", or "*" for any',
  fits: (value) => value === '*' || isList(value, isName),
};

export const originsKind: Kind = {
  words: `a list of origins like ${ORIGIN_WORDS}; or a function`,
  fits: (value) => isFunction(value) || isList(value, isOrigin),
};

export const SERVER_KINDS: Kinds<ServerOptions> = {
  ...HOOK_KINDS,
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
  timeout: timer,
  ignoreAddresses: {
    words: 'a list of addresses and networks like "192.0.2.1" and "2001:db8::/48"',
    fits: (value) => isList(value, isNetwork),
  },
  gpc: { words: '"keep" or "drop"', fits: (value) => value === 'keep' || value === 'drop' },
  deadline: timer,
  now: callback,
};

const KINDS: Kinds<RelayOptions> = {
  ...DELIVERY_KINDS,
  ...SERVER_KINDS,
  origins: originsKind,
  projects: names,
  channels: names,
  forwardAddress: flag,
};

/** Requires `clientAddress`, unless clients are not limited. */
export const checkClients = (
  { clientAddress, rateLimit, ignoreAddresses }: Partial<ServerOptions>,
  { missing, wrong }: OptionCheck,
): void => {
  if (ignoreAddresses && !clientAddress)
    wrong('ignoreAddresses', 'needs `clientAddress`: a function');
  if (clientAddress || rateLimit === false) return;
  missing(
    'clientAddress',
    "a function that gets the client's address from a request, or `rateLimit: false` where no " +
      'client is to be limited',
  );
};

/** Throws a TypeError that names each wrong option and what to write. */
export const checkRelayOptions = (options: RelayOptions): void =>
  checkOptions('createRelay', options, {
    kinds: KINDS,
    required: ['baseUrl', 'token', 'origins', 'projects', 'channels'],
    together: (given, check) => {
      checkClients(given, check);
      if (given.forwardAddress && !given.clientAddress)
        check.wrong('forwardAddress', 'needs `clientAddress`: a function');
    },
  });
