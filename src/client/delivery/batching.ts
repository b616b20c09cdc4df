import type { Entry } from '../outbox/parcel.js';
import type { Capacity } from './sender.js';
import type { Troubles } from './troubles.js';

const half = (count: number): number => Math.max(1, Math.floor(count / 2));

/**
 * How many records go into one request: as many as it takes, and fewer after trouble, so that one record
 * that spoils every request it is in ends up alone.
 */
export const createBatching = (capacity: Capacity, troubles: Troubles) => {
  const { bytesPerRecord, bytesPerRequest } = capacity;
  let { records, bytes } = capacity;
  /** The company that records may be in that spoilt a request, or were beside one that did. */
  const company = new WeakMap<Entry, number>();
  let isDivided = false;

  const weightOf = ({ size }: Entry): number => size + bytesPerRecord;
  const isCompany = (group: readonly Entry[], entry: Entry): boolean =>
    !isDivided || [...group, entry].every((one) => group.length < (company.get(one) ?? Infinity));

  /** Bytes of a request. */
  const weigh = (group: readonly Entry[]): number =>
    group.reduce((sum, entry) => sum + weightOf(entry), bytesPerRequest);

  return {
    weigh,
    /** Bytes a record adds, alone in a request or with others. */
    weightOf: (entry: Entry, alone: boolean): number =>
      weightOf(entry) + (alone ? bytesPerRequest : 0),
    fits: (group: readonly Entry[], entry: Entry): boolean =>
      group.length < records && weigh(group) + weightOf(entry) <= bytes && isCompany(group, entry),
    /** A request was answered. */
    passed: (): void => {
      records = Math.min(2 * records, capacity.records);
    },
    /** A request failed, and it cannot be told why. */
    failed: (group: readonly Entry[]): void => {
      records = half(Math.min(records, group.length));
    },
    /** A request failed because of what was in it. */
    split: (group: readonly Entry[]): void => {
      isDivided = true;
      for (const entry of group) {
        company.set(entry, half(group.length));
        // Most of them did nothing wrong: what one does alone is its own.
        if (group.length > 1) troubles.of(entry).failures = 0;
      }
    },
    /** A request was too large for something on its way. */
    shrink: (group: readonly Entry[]): void => {
      bytes = Math.min(bytes, weigh(group) / 2);
    },
  };
};
