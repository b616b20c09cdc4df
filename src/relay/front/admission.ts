import { messageOf } from '../../interface/errors.js';
import { refuse } from './answers.js';
import { clientKeyOf } from './client-key.js';
import type { TellHook } from '../hooks.js';
import { inTime } from '../in-time.js';
import { createRateLimit, type Rate, type RateLimit } from './rate-limit.js';
import type { RelayOptions } from './relay-options.js';

const CLIENT_RATE: Rate = { perSecond: 100, burst: 1_000 };
const CEILING: Rate = { perSecond: 2_000, burst: 20_000 };

type Options = 'authorize' | 'clientAddress' | 'rateLimit' | 'ceiling' | 'timeout';

type Effects = Pick<RelayOptions, Options> & {
  now: () => number;
  tell: TellHook & {
    metric: (name: 'rate_limited', value: number, labels: { limit: 'client' | 'all' }) => void;
  };
};

/** Decides who may send, and how much. Each check answers with a refusal, or undefined. */
export const createAdmission = (effects: Effects) => {
  const { authorize, clientAddress, rateLimit = CLIENT_RATE, ceiling = CEILING } = effects;
  const { timeout = 10_000, now, tell } = effects;
  const ofClient: RateLimit | false =
    typeof rateLimit === 'object' ? createRateLimit(rateLimit, now) : rateLimit;
  const ofAll = ceiling && createRateLimit(ceiling, now);

  /**
   * When a function of the operator's fails, the request is refused with 503, and the client keeps its
   * records.
   */
  const unless = async (name: string, check: () => Promise<Response | undefined>) => {
    try {
      return await inTime(timeout, check, `\`${name}\``);
    } catch (error) {
      tell.error({ kind: 'hook', message: messageOf(error) });
      return refuse(503, { waitMs: 1_000 });
    }
  };

  const refuseRate = (limit: 'client' | 'all', records: number, waitMs: number): Response => {
    tell.metric('rate_limited', records, { limit });
    return refuse(limit === 'all' ? 503 : 429, { waitMs });
  };

  return {
    authorize: (request: Request): Promise<Response | undefined> =>
      unless('authorize', async () =>
        !authorize || (await authorize(request)) ? undefined : refuse(403),
      ),
    /** With 0 records: whether the client may send at all, before its body is read. */
    limit: (request: Request, records: number): Promise<Response | undefined> =>
      unless('rateLimit', async () => {
        // Asked first, so that records which are refused here do not count for the client's own limit.
        const allMs = ofAll && (await ofAll(undefined, 0));
        if (allMs) return refuseRate('all', records, allMs);
        const waitMs = ofClient && (await ofClient(clientKeyOf(clientAddress?.(request)), records));
        if (waitMs && waitMs > 0) return refuseRate('client', records, waitMs);
        if (ofAll) await ofAll(undefined, records);
        return undefined;
      }),
  };
};
