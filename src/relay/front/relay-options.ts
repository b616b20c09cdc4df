import {
  callback,
  flag,
  isFunction,
  isPositive,
  isText,
  positive,
  text,
  timer,
  type Kind,
} from '../../interface/kinds.js';
import { checkOptions, objectWith, type Kinds } from '../check-options.js';
import { DELIVERY_KINDS, requiredFor, type DeliveryOptions } from '../delivery/delivery.js';
import type { Consumer } from '../delivery/consumer.js';
import type { Putter, Seen } from '../queue/ports.js';
import type { Names } from './records.js';
import { isOrigin, type Origins } from './http.js';
import type { OnRefused } from './refusals.js';
import type { AdmissionOptions, Rate } from './admission.js';

/** Options of `createRelay`. */
export interface RelayOptions extends Omit<DeliveryOptions, 'seen' | 'timeout'>, AdmissionOptions {
  /** Origins whose pages may send, each as `https://shop.example`. The relay's own has to be named, too. */
  origins: Origins;
  /** Project IDs that may be written to; `'*'` for any. Records of others are `blocked` with 403, and pages keep them. */
  projects: Names;
  /** Channel IDs that may be written to; `'*'` for any. Events of others are `blocked` with 403, and pages keep them. */
  channels: Names;
  /** Take requests without an `Origin` that no browser has made: servers, tests. @default false */
  allowMissingOrigin?: boolean | undefined;
  /**
   * Send the truncated client address (24 bits of IPv4, 48 of IPv6) to the service as
   * `X-Forwarded-For`. Not for records that go through a queue. @default false
   */
  forwardAddress?: boolean | undefined;
  /**
   * What goes on tells clients apart by a word that is made of the address with this secret. Give the same to all
   * processes of a relay. @default the queue's, the token, or its own
   */
  secret?: string | undefined;
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
   * Records that are under way to the service or wait for it at the most; what comes beyond is answered 503.
   * @default 10000
   */
  maxPending?: number | undefined;
  /** The ids that have been passed on. @default in memory: 100,000 ids, a day */
  seen?: Seen | undefined;
  /** Answer `accepted` as soon as this has a record; a consumer delivers it. @default none */
  queue?: Putter | undefined;
  /**
   * Called with each request and record that the relay itself refuses, for people who look for what is missing. Many
   * may come, and all that is in them is what a stranger has sent. @default none
   */
  onRefused?: OnRefused | undefined;
  /** The consumer of the queue, where it is in this process: `health()` tells how it stands. @default none */
  consumer?: Pick<Consumer, 'health'> | undefined;
}

export const isList = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(fits);
export const isRate = (value: unknown): boolean => {
  const { perSecond, burst } = (value ?? {}) as Partial<Rate>;
  return isPositive(perSecond) && isPositive(burst);
};

export const names: Kind = {
  words: 'a list of non-empty strings, or "*"',
  fits: (value) => value === '*' || isList(value, isText),
};

const KINDS: Kinds<RelayOptions> = {
  ...DELIVERY_KINDS,
  origins: {
    words: 'a list of origins like "https://shop.example", or a function',
    fits: (value) => isFunction(value) || isList(value, isOrigin),
  },
  projects: names,
  channels: names,
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
  secret: text,
  maxBytes: positive,
  bodyTimeout: timer,
  deadline: timer,
  queue: objectWith('put'),
  consumer: objectWith('health'),
  onRefused: callback,
};

/** Throws a TypeError that names each wrong option and what to write. */
export const checkRelayOptions = (options: RelayOptions): void =>
  checkOptions('createRelay', options, {
    kinds: KINDS,
    required: [...requiredFor(options), 'origins', 'projects', 'channels'],
    together: ({ clientAddress, rateLimit, forwardAddress }, { missing, wrong }) => {
      if (!clientAddress && rateLimit !== false) {
        missing(
          'clientAddress',
          "a function that gets the client's address from a request, or `rateLimit: false` where no " +
            'client is to be limited',
        );
      }
      if (forwardAddress && !clientAddress) {
        wrong('forwardAddress', 'needs `clientAddress`: a function');
      }
    },
  });
