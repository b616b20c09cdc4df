/** Clients remembered at the most. */
const MAX_CLIENTS = 10_000;

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

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A token bucket for each client, in memory. A batch passes while there is one token left, and may leave a
 * debt: or a batch larger than the bucket could never pass. Clients without an address share a bucket.
 */
export const createRateLimit = (rate: Rate, now: () => number): RateLimit => {
  const { perSecond } = rate;
  const burst = Math.max(1, rate.burst);
  /** Buckets in the order of their last use. One that is removed is full again, or nearly. */
  const buckets = new Map<string | undefined, Bucket>();

  return (client, records) => {
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
