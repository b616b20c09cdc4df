import { blockOf } from './client.js';
import type { Rate } from './admission.js';

/** Networks remembered at the most. Only those that have passed something are. */
const MAX_NETWORKS = 10_000;
/** A provider's block of IPv6 networks (/32) has as much as this many networks. */
const BLOCK_NETWORKS = 4;

/** Sums up the records of each network. The longer ago they passed, the less they count. */
const createPassed = (windowMs: number) => {
  /** In the order in which they passed something. */
  const networks = new Map<string, { records: number; at: number }>();
  const of = (network: string, time: number): number => {
    const known = networks.get(network);
    if (!known) return 0;
    // A clock that is set back decays nothing.
    known.records *= Math.exp(-Math.max(0, time - known.at) / windowMs);
    known.at = time;
    return known.records;
  };
  return {
    of,
    add: (network: string, records: number, time: number): void => {
      const sum = of(network, time) + records;
      networks.delete(network);
      networks.set(network, { records: sum, at: time });
      if (networks.size > MAX_NETWORKS) networks.delete(networks.keys().next().value!);
    },
  };
};

/**
 * The ceiling for the records of all clients, in shares: a network passes while the records that it has passed lately are
 * at most as many as the ceiling has left. So no network has more than half of what the others leave, and networks that
 * send little pass, however many networks send much.
 */
export const createShares = (rate: Rate, now: () => number) => {
  const { perSecond } = rate;
  const burst = Math.max(1, rate.burst);
  /** In this time half of the burst comes back, so a network that is alone has all of the rate. By default it is 5 s. */
  const windowMs = (burst / perSecond) * 500;
  const networks = createPassed(windowMs);
  const blocks = createPassed(windowMs);
  let tokens = burst;
  let at = now();

  /** Whether records of a network may pass; they are charged then. It is called with 0 before the body is read. */
  return (network: string, records: number): boolean => {
    const time = now();
    tokens = Math.min(burst, tokens + (Math.max(0, time - at) / 1_000) * perSecond);
    at = time;
    // A batch larger than the burst could never pass otherwise.
    const more = Math.max(0, Math.min(records, burst) - 1);
    const block = blockOf(network);
    if (networks.of(network, time) + more > tokens) return false;
    if (block && blocks.of(block, time) + more > BLOCK_NETWORKS * tokens) return false;
    if (!records) return true;
    tokens -= records;
    networks.add(network, records, time);
    if (block) blocks.add(block, records, time);
    return true;
  };
};
