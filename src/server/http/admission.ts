import { messageOf } from '../../util/errors.js';
import { inTime } from '../../util/in-time.js';
import type { Tell } from '../hooks.js';
import { blockOf, clientKeyOf, networkOf, type ClientOptions } from './client.js';
import { createShares } from './shares.js';
import { refusalOf, type Refusal } from '../refusal.js';

/**
 * Returns the milliseconds that a client has to wait; 0 if its records may pass. It is called with 0 records before the
 * body is read, and then with their number. A client is an IPv4 address, the first 64 bits of an IPv6 address
 * (`2001:db8:0:1::/64`), or another text from `clientAddress`.
 */
export type RateLimit = (client: string | undefined, records: number) => number | Promise<number>;

export interface Rate {
  /** Records a second, in the long run. */
  perSecond: number;
  /** Records at once; 1 at the least. */
  burst: number;
}

/** The rate of a token that has one of its own. */
export interface OwnRate {
  /** Another one for each token. */
  key: string;
  rate: Rate | false;
}

/** Clients remembered at the most. */
const MAX_CLIENTS = 10_000;

/**
 * A token bucket for each client, in memory. A batch passes if there is one token left, and may leave a debt. Otherwise
 * a batch larger than the bucket could never pass. What does not pass has cost as much, so it is charged, too, down to a
 * debt of one burst. Clients without an address share a bucket.
 */
export const createRateLimit = (rate: Rate, now: () => number) => {
  const { perSecond } = rate;
  const burst = Math.max(1, rate.burst);
  /** Buckets in the order of their last use. The first one is full again, or nearly, so it may be removed. */
  const buckets = new Map<string | undefined, { tokens: number; at: number }>();

  return (client: string | undefined, records: number): number => {
    const time = now();
    const { tokens, at } = buckets.get(client) ?? { tokens: burst, at: time };
    const filled = Math.min(burst, tokens + (Math.max(0, time - at) / 1_000) * perSecond);
    const passes = filled >= 1;
    const left = passes ? filled - records : Math.min(filled, Math.max(-burst, filled - records));
    buckets.delete(client);
    buckets.set(client, { tokens: left, at: time });
    if (buckets.size > MAX_CLIENTS) buckets.delete(buckets.keys().next().value);
    return passes ? 0 : ((1 - left) / perSecond) * 1_000;
  };
};

/** Options that say who may send, and how much. */
export interface AdmissionOptions extends ClientOptions {
  /**
   * Records that a client may send, in the memory of this process; `false` is no limit, and a function decides by itself.
   * All clients of one IPv6 network (/48) may send sixteen times as many. @default { perSecond: 100, burst: 1000 }
   */
  rateLimit?: Rate | RateLimit | false | undefined;
  /**
   * Records that all clients together may send, in the memory of this process; `false` is no limit. No network has more
   * than half of what the others leave.
   * @default { perSecond: 2000, burst: 20000 }
   */
  ceiling?: Rate | false | undefined;
  /**
   * Milliseconds that a request to a service may take, and each call of `authorize`, `rateLimit` and `token`.
   * @default 10000
   */
  timeout?: number | undefined;
}

/** The limit that refuses: that of the client, of its network, or of all clients. */
type Limit = 'client' | 'network' | 'all';

interface Effects extends AdmissionOptions {
  now: () => number;
  tell: Tell;
}

const CLIENT_RATE: Rate = { perSecond: 100, burst: 1_000 };
const CEILING: Rate = { perSecond: 2_000, burst: 20_000 };
/** An IPv6 network (/48) may send as much as this many clients: it may be one customer, or a university. */
const NETWORK_CLIENTS = 16;

/** How long a network waits whose share of the ceiling is used up. Others use up less of it at any time. */
const SHARE_MS = 1_000;

const WORDS: Readonly<Record<Limit, string>> = {
  client: 'Too many records of this client. Raise the rate limit, if it is one of yours.',
  network: 'Too many records of one IPv6 network. Raise the rate limit, if its clients are yours.',
  all: 'Too many records of all clients, for the share of this network. Raise the ceiling, if they are yours.',
};

/** Charges tokens to an account. Returns a refusal if it is overdrawn. */
type Charge = (tokens: number) => Refusal | undefined | Promise<Refusal | undefined>;

/** What a request is charged to. */
export interface Account {
  /** The network of its client, or its token if that has a rate of its own. Bodies and the ceiling are shared by these. */
  network: string;
  /** Charges what it costs to read the request. */
  charge: Charge;
  /** Charges records to the network's share of the ceiling. */
  admit: (records: number) => Refusal | undefined;
}

/**
 * Decides how much may be sent. Each check returns a refusal, or undefined. The cost of reading a request is charged
 * only to its own account. Otherwise a few clients could use up the ceiling without sending a single record.
 */
export const createAdmission = (effects: Effects) => {
  const { clientAddress, rateLimit = CLIENT_RATE, ceiling = CEILING } = effects;
  const { timeout = 10_000, now, tell } = effects;
  const ofClient: RateLimit | false =
    typeof rateLimit === 'object' ? createRateLimit(rateLimit, now) : rateLimit;
  const ofNetwork = typeof rateLimit === 'object' && createRateLimit(manyTimes(rateLimit), now);
  const ofAll = ceiling && createShares(ceiling, now);
  /** The limits of tokens with a rate of their own. */
  const ofTokens = new Map<string, ReturnType<typeof createRateLimit>>();

  const refuseRate = (limit: Limit, waitMs: number): Refusal => {
    tell.metric('rate_limited', 1, { limit });
    return refusalOf('rate', WORDS[limit], { status: limit === 'all' ? 503 : 429, waitMs });
  };

  /** Charges a client, and its network if that is one of IPv6: there each customer has many clients. */
  const chargeClient = (client: string, network: string): Charge => {
    const ofCustomer = ofNetwork && blockOf(network) ? ofNetwork : () => 0;
    return (tokens) => {
      // Ask the network first: a request that it refuses must not be charged to the client.
      const networkMs = ofCustomer(network, 0);
      if (networkMs) return refuseRate('network', networkMs);
      const settle = (waitMs: number): Refusal | undefined => {
        if (waitMs > 0) return refuseRate('client', waitMs);
        ofCustomer(network, tokens);
        return undefined;
      };
      const waitMs = ofClient ? ofClient(client || undefined, tokens) : 0;
      return typeof waitMs === 'number' ? settle(waitMs) : waitMs.then(settle);
    };
  };

  const chargeToken = ({ key, rate }: OwnRate): Charge => {
    if (!rate) return () => undefined;
    const limit = ofTokens.get(key) ?? createRateLimit(rate, now);
    ofTokens.set(key, limit);
    return (tokens) => {
      const waitMs = limit(key, tokens);
      return waitMs > 0 ? refuseRate('client', waitMs) : undefined;
    };
  };

  /** If a function of the operator's fails, the answer is 503, and the client keeps its records. */
  const failed = (name: string, error: unknown): Refusal => {
    tell.error({ kind: 'hook', message: `\`${name}\`: ${messageOf(error)}` });
    return refusalOf('rate', `\`${name}\` failed`, { status: 503, waitMs: 1_000 });
  };
  const unless = <Result>(
    name: string,
    check: () => Result | Promise<Result>,
  ): Result | Refusal | Promise<Result | Refusal> => {
    try {
      const result = check();
      // A result that is there at once needs no timer.
      if (!(result instanceof Promise)) return result;
      return inTime(result, timeout).catch((error: unknown) => failed(name, error));
    } catch (error) {
      return failed(name, error);
    }
  };

  return {
    unless,
    /** The key of the client that sends a request; '' for all whose address is not known. */
    clientOf: (request: Request): string | Refusal => {
      try {
        return clientKeyOf(clientAddress?.(request));
      } catch (error) {
        return failed('clientAddress', error);
      }
    },
    /** The account of a client, or of a token with a rate of its own. */
    accountOf: (client: string, own?: OwnRate): Account => {
      const network = own ? `token ${own.key}` : networkOf(client);
      const ofOne = own ? chargeToken(own) : chargeClient(client, network);
      return {
        network,
        charge: (tokens) => unless('rateLimit', () => ofOne(tokens)),
        admit: (records) =>
          !ofAll || ofAll(network, records) ? undefined : refuseRate('all', SHARE_MS),
      };
    },
  };
};

export type Admission = ReturnType<typeof createAdmission>;

/** The rate of a network. */
const manyTimes = ({ perSecond, burst }: Rate): Rate => ({
  ...{ perSecond: perSecond * NETWORK_CLIENTS, burst: burst * NETWORK_CLIENTS },
});
