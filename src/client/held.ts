import { byteLength } from './record/byte-length.js';
import type { OutboxRecord } from './types.js';

interface Limits {
  maxRecords: number;
  maxBytes: number;
}

/** Records in memory alone, for as long as storage may not be used. */
export const createHeld = (limits: () => Limits, onSurplus: (record: OutboxRecord) => void) => {
  const records: OutboxRecord[] = [];
  let bytes = 0;

  const isFull = (): boolean => {
    const { maxRecords, maxBytes } = limits();
    return records.length > maxRecords || bytes > maxBytes;
  };

  /** The oldest event, or the oldest identify where there is no event. */
  const removeOldest = (): OutboxRecord => {
    const event = records.findIndex(({ type }) => type === 'event');
    const [record] = records.splice(Math.max(event, 0), 1);
    bytes -= byteLength(record!.body);
    return record!;
  };

  return {
    count: (): number => records.length,
    add: (record: OutboxRecord): void => {
      records.push(record);
      bytes += byteLength(record.body);
      while (isFull()) onSurplus(removeOldest());
    },
    /** Removes all records, and returns them. */
    take: (): OutboxRecord[] => {
      bytes = 0;
      return records.splice(0);
    },
  };
};
