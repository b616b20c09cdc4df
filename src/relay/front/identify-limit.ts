import type { BatchRecord } from '../../interface/wire.js';
import { laneOf } from '../queue/lane.js';
import { createRateLimit } from './admission.js';

/**
 * How many identifies of one user a client may put into a queue. Identifies of a user are delivered one after
 * the other, whoever sends them, and everything else of that user waits behind them.
 */
const RATE = { perSecond: 1, burst: 50 };

export const createIdentifyLimit = (now: () => number) => {
  const limit = createRateLimit(RATE, now);

  /** The records of a batch that may be put. After an identify that may not, no record of the same user may. */
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
