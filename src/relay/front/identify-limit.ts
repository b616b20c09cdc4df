import type { BatchRecord } from '../../interface/wire.js';
import { laneOf } from '../queue/lane.js';
import { createRateLimit } from './rate-limit.js';

/**
 * Identifies of one user that one client may put into a queue. They are delivered one after the other,
 * whoever they come from, and everything of that user waits behind them.
 */
const RATE = { perSecond: 1, burst: 50 };

export const createIdentifyLimit = (now: () => number) => {
  const limit = createRateLimit(RATE, now);

  /** Those of a batch that may be put. Behind an identify that may not, nothing of its user may. */
  return (records: readonly BatchRecord[], client: string): BatchRecord[] => {
    const held = new Set<string>();
    return records.filter((record) => {
      const lane = laneOf(record);
      const isFree = record.type !== 'identify' || limit(`${client} ${lane}`, 1) === 0;
      if (!isFree) held.add(lane);
      return !held.has(lane);
    });
  };
};
