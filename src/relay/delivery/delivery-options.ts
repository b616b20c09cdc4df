import type { Token } from '../../interface/bodies.js';
import { callback, flag, positive, token, url } from '../../interface/kinds.js';
import { CLOCK_KINDS, HOOK_KINDS, count, objectWith, type Kinds } from '../check-options.js';
import type { Hooks } from '../hooks.js';
import type { Seen } from '../queue/ports.js';
import type { ServiceFetch } from '../service-fetch.js';
import type { Send } from './batch-upstream.js';

/** Options of `createDelivery`. */
export interface DeliveryOptions extends Hooks {
  /**
   * Address of the service, to which `/v1/event` and `/v1/identify` are added.
   * @default required without send
   */
  baseUrl?: string | undefined;
  /** The service's token, or a function that gets it; asked again once after a 401. @default required without send */
  token?: Token | undefined;
  /**
   * Takes records in one call, in place of a request each to `baseUrl`: a service in the same process. Calls may be
   * under way at a time, so `called_at` tells which of a user's identifies is the later one.
   * @default none
   */
  send?: Send | undefined;
  /** The ids that have been passed on. */
  seen: Seen;
  /** Send the record's id to the service as `Idempotency-Key`. @default true */
  idempotencyKey?: boolean | undefined;
  /**
   * Requests to the service at a time at the most, over all batches. It begins with 4, and again after a
   * failure or when nothing was under way; each success makes room for one more. @default 32
   */
  concurrency?: number | undefined;
  /** Records that are being sent or wait to be sent, at the most. Those beyond are `retry`. @default 10000 */
  maxPending?: number | undefined;
  /** Milliseconds one try may take. @default 10000 */
  timeout?: number | undefined;
  /** In place of the global `fetch`; on Node, `createNodeFetch` of `relay/node` costs far less. */
  fetch?: ServiceFetch | undefined;
  /** In place of `Date.now`. */
  now?: (() => number) | undefined;
  /** In place of `Math.random`. */
  random?: (() => number) | undefined;
}

export const DELIVERY_KINDS: Kinds<DeliveryOptions> = {
  baseUrl: url,
  token,
  send: callback,
  seen: objectWith('begin', 'finish', 'forget'),
  idempotencyKey: flag,
  concurrency: count,
  maxPending: count,
  timeout: positive,
  fetch: callback,
  ...HOOK_KINDS,
  ...CLOCK_KINDS,
};

/** Records go to an address, with a token, unless there is a function that takes them. */
export const requiredFor = (
  options: Pick<DeliveryOptions, 'send'> | null,
): readonly ('baseUrl' | 'token')[] => (options?.send ? [] : ['baseUrl', 'token']);
