import { messageOf } from '../../interface/errors.js';
import { inTime } from '../../interface/in-time.js';
import type { TellHook } from '../hooks.js';
import { clientKeyOf, networkOf, type ClientOptions } from './client.js';
import { refuse } from './answers.js';

/**
 * Milliseconds a client has to wait; 0 where its records may pass. Asked with 0 records before the body
 * is read, and then with their number. A client is an IPv4 address, the first 64 bits of an IPv6 one
 * (`2001:db8:0:1::/64`), or what else `clientAddress` gives.
 */
export type RateLimit = (client: string | undefined, records: number) => number | Promise<number>;

export interface Rate {
  /** Records a second, in the long run. */
  perSecond: number;
  /** Records at once; 1 at the least. */
  burst: number;
}

/** Clients remembered at the most. */
const MAX_CLIENTS = 10_000;

/**
 * A token bucket for each client, in memory. A batch passes while there is one token left, and may leave a
 * debt: or a batch larger than the bucket could never pass. Clients without an address share a bucket.
 */
export const createRateLimit = (rate: Rate, now: () => number) => {
  const { perSecond } = rate;
  const burst = Math.max(1, rate.burst);
  /** Buckets in the order of their last use. One that is removed is full again, or nearly. */
  const buckets = new Map<string | undefined, { tokens: number; at: number }>();

  return (client: string | undefined, records: number): number => {
    const time = now();
    const { tokens, at } = buckets.get(client) ?? { tokens: burst, at: time };
    const filled = Math.min(burst, tokens + (Math.max(0, time - at) / 1_000) * perSecond);
    const passes = filled >= 1;
    buckets.delete(client);
    buckets.set(client, { tokens: passes ? filled - records : filled, at: time });
    if (buckets.size > MAX_CLIENTS) buckets.delete(buckets.keys().next().value);
    return passes ? 0 : ((1 - filled) / perSecond) * 1_000;
  };
};

const MIB = 1_048_576;

/**
 * Counts the bytes of bodies that are read or worked on. There is room for `ofAll` bytes, of which one client can take up
 * `ofClient`; clients that cannot be told apart are not limited by that.
 */
export const createHeldBodies = ({ ofAll = 64 * MIB, ofClient = 8 * MIB } = {}) => {
  let held = 0;
  const clients = new Map<string, number>();

  /** One more body of a client. */
  return (client: string) => {
    let size = 0;
    const change = (bytes: number): void => {
      const left = (clients.get(client) ?? 0) + bytes;
      held += bytes;
      size += bytes;
      if (left) clients.set(client, left);
      else clients.delete(client);
    };
    return {
      /** Adds bytes that have come, or answers why there is no room for them. */
      add: (bytes: number): 429 | 503 | undefined => {
        if (client && (clients.get(client) ?? 0) + bytes > ofClient) return 429;
        if (held + bytes > ofAll) return 503;
        change(bytes);
        return undefined;
      },
      /** Bytes that have come. */
      size: (): number => size,
      /** The body is not held any more. */
      release: (): void => change(-size),
    };
  };
};

/** Options that say who may send, and how much. */
export interface AdmissionOptions extends ClientOptions {
  /**
   * Asked before the body is read; `false` refuses with 403. It may read the headers (a session cookie,
   * say), not the body. Where it fails, or takes longer than `timeout`, the answer is 503.
   */
  authorize?: ((request: Request) => boolean | Promise<boolean>) | undefined;
  /**
   * Records a client may send, in memory of this process, or a function that decides; `false` is no
   * limit. All clients of one IPv6 network (/48) may send four times as many. @default { perSecond: 100, burst: 1000 }
   */
  rateLimit?: Rate | RateLimit | false | undefined;
  /**
   * Records that all clients together may have passed on, in memory of this process; `false` is no limit.
   * @default { perSecond: 2000, burst: 20000 }
   */
  ceiling?: Rate | false | undefined;
  /**
   * Milliseconds one try at the service may take, and each of `authorize`, `rateLimit` and `token`.
   * @default 10000
   */
  timeout?: number | undefined;
}

/** Which of the limits refuses: that of the client, of its network, or of all. */
type Limit = 'client' | 'network' | 'all';

interface Effects extends AdmissionOptions {
  now: () => number;
  tell: TellHook & {
    metric: (name: 'rate_limited', value: number, labels: { limit: Limit }) => void;
  };
}

const CLIENT_RATE: Rate = { perSecond: 100, burst: 1_000 };
const CEILING: Rate = { perSecond: 2_000, burst: 20_000 };
/** An IPv6 network may send as much as so many clients: it may be one customer, or a university. */
const NETWORK_CLIENTS = 4;

/**
 * Decides who may send, and how much. Each check answers with a refusal, or undefined. What a request costs to read is
 * charged to its client and its network alone, or a few clients could use up the ceiling with what is no record at all.
 */
export const createAdmission = (effects: Effects) => {
  const { authorize, clientAddress, rateLimit = CLIENT_RATE, ceiling = CEILING } = effects;
  const { timeout = 10_000, now, tell } = effects;
  const ofClient: RateLimit | false =
    typeof rateLimit === 'object' ? createRateLimit(rateLimit, now) : rateLimit;
  const ofNetwork = typeof rateLimit === 'object' && createRateLimit(manyTimes(rateLimit), now);
  const ofAll = ceiling && createRateLimit(ceiling, now);

  /** When a function of the operator's fails, the answer is 503, and the client keeps its records. */
  const unless = async (name: string, check: () => Promise<Response | undefined>) => {
    try {
      return await inTime(check(), timeout);
    } catch (error) {
      tell.error({ kind: 'hook', message: `\`${name}\`: ${messageOf(error)}` });
      return refuse(503, { waitMs: 1_000 });
    }
  };

  const refuseRate = (limit: Limit, waitMs: number): Response => {
    tell.metric('rate_limited', 1, { limit });
    return refuse(limit === 'all' ? 503 : 429, { waitMs });
  };

  /** Charges the client and its network. Answers with a refusal, which tells of itself, where one of them has to wait. */
  const charge = async (
    request: Request,
    tokens: number,
  ): Promise<(() => Response) | undefined> => {
    const client = clientKeyOf(clientAddress?.(request));
    const network = networkOf(client);
    // Asked first: a client that waits for its network owes nothing.
    const networkMs = ofNetwork && network ? ofNetwork(network, 0) : 0;
    if (networkMs) return () => refuseRate('network', networkMs);
    const waitMs = ofClient && (await ofClient(client, tokens));
    if (waitMs && waitMs > 0) return () => refuseRate('client', waitMs);
    if (ofNetwork && network) ofNetwork(network, tokens);
    return undefined;
  };

  /** Whether so many more records may pass on, of all clients together. */
  const admit = (records: number): Response | undefined => {
    const waitMs = ofAll && ofAll(undefined, records);
    return waitMs ? refuseRate('all', waitMs) : undefined;
  };

  return {
    authorize: (request: Request): Promise<Response | undefined> =>
      unless('authorize', async () =>
        !authorize || (await authorize(request)) ? undefined : refuse(403),
      ),
    /** With 0 tokens: whether the client may send at all, before its body is read. */
    limit: (request: Request, tokens: number): Promise<Response | undefined> =>
      unless('rateLimit', async () => {
        const refusal = await charge(request, tokens);
        return refusal ? refusal() : tokens === 0 ? admit(0) : undefined;
      }),
    /** Charges a request that is refused for another reason. */
    charge: async (request: Request, tokens: number): Promise<void> =>
      void (await unless('rateLimit', async () => void (await charge(request, tokens)))),
    admit,
  };
};

export type Admission = ReturnType<typeof createAdmission>;

/** What a network may send. */
const manyTimes = ({ perSecond, burst }: Rate): Rate => ({
  ...{ perSecond: perSecond * NETWORK_CLIENTS, burst: burst * NETWORK_CLIENTS },
});
