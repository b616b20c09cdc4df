import { messageOf } from '../../util/errors.js';
import { inTime } from '../../util/in-time.js';
import type { Tell } from '../hooks.js';
import { clientKeyOf, networkOf, type ClientOptions } from './client.js';
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

/** Clients remembered at the most. */
const MAX_CLIENTS = 10_000;

/**
 * A token bucket for each client, in memory. A batch passes if there is one token left, and may leave a debt. Otherwise
 * a batch larger than the bucket could never pass. Clients without an address share a bucket.
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
    buckets.delete(client);
    buckets.set(client, { tokens: passes ? filled - records : filled, at: time });
    if (buckets.size > MAX_CLIENTS) buckets.delete(buckets.keys().next().value);
    return passes ? 0 : ((1 - filled) / perSecond) * 1_000;
  };
};

const MIB = 1_048_576;

/** Counts bytes of bodies, in all and of each client. Clients that cannot be told apart have no bound of their own. */
const createBytes = (ofAll: number, ofClient: number) => {
  let held = 0;
  const clients = new Map<string, number>();
  return {
    /** Why there is no room for more bytes, if there is none. */
    lacks: (client: string, bytes: number): 429 | 503 | undefined => {
      if (client && (clients.get(client) ?? 0) + bytes > ofClient) return 429;
      return held + bytes > ofAll ? 503 : undefined;
    },
    change: (client: string, bytes: number): void => {
      const left = (clients.get(client) ?? 0) + bytes;
      held += bytes;
      if (left) clients.set(client, left);
      else clients.delete(client);
    },
  };
};

/**
 * Counts the bytes of bodies in memory, as they come. A body that is read in one piece cannot be counted before all of
 * it is there, so it needs a reservation, and there are few of them. A stranger who announces bodies and sends nothing
 * can only use up the reservations; all other bodies are then read piece by piece.
 */
export const createHeldBodies = ({ ofAll = 64 * MIB, ofClient = 8 * MIB } = {}) => {
  const bytes = createBytes(ofAll, ofClient);
  const reserved = createBytes(ofAll / 4, ofClient / 4);

  /** One more body of a client. */
  return (client: string) => {
    let size = 0;
    let announced = 0;
    let isReleased = false;
    const reserve = (length: number): void => {
      reserved.change(client, length - announced);
      announced = length;
    };
    return {
      /** Whether a body of this length may be read in one piece. */
      mayReserve: (length: number): boolean => {
        if (reserved.lacks(client, length)) return false;
        reserve(length);
        return true;
      },
      /**
       * Counts the body as this many bytes, unless it counts as more already, or returns why there is no room. Bytes that
       * come after the body was given up are not counted.
       */
      grow: (to: number): 429 | 503 | undefined => {
        if (isReleased) return undefined;
        const more = Math.max(0, to - size);
        const lack = bytes.lacks(client, more);
        if (lack) return lack;
        size += more;
        bytes.change(client, more);
        return undefined;
      },
      /** Bytes that are counted. */
      size: (): number => size,
      /** The body is not held any more. */
      release: (): void => {
        isReleased = true;
        reserve(0);
        bytes.change(client, -size);
        size = 0;
      },
    };
  };
};

export type HeldBody = ReturnType<ReturnType<typeof createHeldBodies>>;

/** Options that say who may send, and how much. */
export interface AdmissionOptions extends ClientOptions {
  /**
   * Records that a client may send, in the memory of this process; `false` is no limit, and a function decides by itself.
   * All clients of one IPv6 network (/48) may send four times as many. @default { perSecond: 100, burst: 1000 }
   */
  rateLimit?: Rate | RateLimit | false | undefined;
  /**
   * Records that all clients together may send, in the memory of this process; `false` is no limit.
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
const NETWORK_CLIENTS = 4;

const WORDS: Readonly<Record<Limit, string>> = {
  client: 'Too many records of this client. Raise the rate limit, if it is one of yours.',
  network: 'Too many records of one IPv6 network. Raise the rate limit, if its clients are yours.',
  all: 'Too many records of all clients. Raise the ceiling, if they are yours.',
};

/** Charges tokens to one account. Returns a refusal if it is overdrawn. */
export type Charge = (tokens: number) => Refusal | undefined | Promise<Refusal | undefined>;

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
  const ofAll = ceiling && createRateLimit(ceiling, now);
  /** The limits of tokens with a rate of their own. */
  const ofTokens = new Map<string, ReturnType<typeof createRateLimit>>();

  const refuseRate = (limit: Limit, waitMs: number): Refusal => {
    tell.metric('rate_limited', 1, { limit });
    return refusalOf('rate', WORDS[limit], { status: limit === 'all' ? 503 : 429, waitMs });
  };
  const refuseBy = (limit: Limit, waitMs: number): Refusal | undefined =>
    waitMs > 0 ? refuseRate(limit, waitMs) : undefined;

  /** Charges a client and its network. */
  const chargeClient = (client: string): Charge => {
    const network = networkOf(client);
    return (tokens) => {
      // Ask the network first: a request that it refuses must not be charged to the client.
      const networkMs = ofNetwork && network ? ofNetwork(network, 0) : 0;
      if (networkMs) return refuseRate('network', networkMs);
      const settle = (waitMs: number): Refusal | undefined => {
        if (waitMs > 0) return refuseRate('client', waitMs);
        if (ofNetwork && network) ofNetwork(network, tokens);
        return undefined;
      };
      const waitMs = ofClient ? ofClient(client || undefined, tokens) : 0;
      return typeof waitMs === 'number' ? settle(waitMs) : waitMs.then(settle);
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
    /** The account that is charged: that of a client, or of a token with a rate of its own. */
    accountOf: (client: string, own?: { key: string; rate: Rate | false }): Charge => {
      if (own?.rate === false) return () => undefined;
      if (own) {
        const limit = ofTokens.get(own.key) ?? createRateLimit(own.rate, now);
        ofTokens.set(own.key, limit);
        return (tokens) => refuseBy('client', limit(own.key, tokens));
      }
      const ofOne = chargeClient(client);
      return (tokens) => unless('rateLimit', () => ofOne(tokens));
    },
    /** Charges records to the ceiling of all clients. */
    admit: (records: number): Refusal | undefined =>
      refuseBy('all', ofAll ? ofAll(undefined, records) : 0),
  };
};

export type Admission = ReturnType<typeof createAdmission>;

/** The rate of a network. */
const manyTimes = ({ perSecond, burst }: Rate): Rate => ({
  ...{ perSecond: perSecond * NETWORK_CLIENTS, burst: burst * NETWORK_CLIENTS },
});
