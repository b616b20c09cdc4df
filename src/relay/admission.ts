import { messageOf } from '../errors.js';
import { refuse } from './answers.js';
import type { Tell } from './hooks.js';
import { createRateLimit, type Rate, type RateLimit } from './rate-limit.js';
import type { RelayOptions } from './relay-options.js';

const DEFAULT_RATE: Rate = { perSecond: 100, burst: 1_000 };

type Effects = Pick<RelayOptions, 'authorize' | 'clientAddress' | 'rateLimit'> & {
  now: () => number;
  tell: Tell;
};

/** Who may send, and how much. Each check gives the answer that refuses, or nothing. */
export const createAdmission = ({ authorize, clientAddress, rateLimit, now, tell }: Effects) => {
  // One bucket for all would let one visitor lock out the others.
  const rate = rateLimit ?? (clientAddress ? DEFAULT_RATE : false);
  const limit: RateLimit | false = typeof rate === 'object' ? createRateLimit(rate, now) : rate;

  /** A function that was passed in and fails lets nobody in, and loses nothing: the client keeps it. */
  const unless = async (check: () => Promise<Response | undefined>) => {
    try {
      return await check();
    } catch (error) {
      tell.error({ kind: 'hook', message: messageOf(error) });
      return refuse(503, { waitMs: 1_000 });
    }
  };

  return {
    authorize: (request: Request): Promise<Response | undefined> =>
      unless(async () => (!authorize || (await authorize(request)) ? undefined : refuse(403))),
    /** With 0 records: whether the client may send at all, before its body is read. */
    limit: (request: Request, records: number): Promise<Response | undefined> =>
      unless(async () => {
        if (!limit) return undefined;
        const waitMs = await limit(clientAddress?.(request), records);
        if (!(waitMs > 0)) return undefined;
        tell.metric('rate_limited', records);
        return refuse(429, { waitMs });
      }),
  };
};
