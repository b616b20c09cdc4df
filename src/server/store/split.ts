import { REST } from './hours.js';
import type { SplitRows } from './port.js';

/** Pairs in one answer. The rows of all others are under the rest. */
export const MAX_SPLIT = 200;

/** A pair of channel and event as one text. No stored text has a NUL. */
const SEPARATOR = '\0';
const REST_PAIR = REST + SEPARATOR + REST;

/** Adds up rows by pairs of channel and event, hour after hour. */
export const createSplit = () => {
  const pairs = new Map<string, number[]>();
  let hours = 0;
  let last: { names: string; each: number[][] } | undefined;

  const ofPair = (pair: string): number[] => {
    const known = pairs.get(pair) ?? [];
    pairs.set(pair, known);
    return known;
  };
  const add = (to: number[], at: number, rows: number): void => {
    to[at] = (to[at] ?? 0) + rows;
  };

  return {
    /**
     * Adds the next hour: `names` is JSON of the pairs, as texts with NUL between or as lists of two, and `rows` that of
     * their rows. Hours often have the same pairs, which are not read anew then.
     */
    add: (names: string, rows: string): void => {
      if (names !== last?.names) {
        const all = JSON.parse(names) as (string | string[])[];
        const textOf = (pair: string | string[]) =>
          typeof pair === 'string' ? pair : pair.join(SEPARATOR);
        last = { names, each: all.map((pair) => ofPair(textOf(pair))) };
      }
      const { each } = last;
      (JSON.parse(rows) as number[]).forEach((count, at) => add(each[at]!, hours, count));
      hours++;
    },
    /** The pairs with the most rows first, and the rest at the end. */
    all: (): SplitRows[] => {
      const whole = (rows: number[]) => Array.from({ length: hours }, (_, at) => rows[at] ?? 0);
      const sumOf = (rows: number[]) => rows.reduce((sum, count) => sum + count, 0);
      const sums = [...pairs].map(([pair, rows]) => ({ pair, rows, sum: sumOf(rows) }));
      const shown = sums
        .filter(({ pair, sum }) => pair !== REST_PAIR && sum > 0)
        .sort((a, b) => b.sum - a.sum || (a.pair < b.pair ? -1 : 1))
        .slice(0, MAX_SPLIT);
      // Rows of a pair may have been taken from another: its sum and that of the rest are right together.
      const rest: number[] = [];
      const own = new Set(shown);
      for (const one of sums)
        if (!own.has(one)) one.rows.forEach((count, at) => add(rest, at, count));
      return [...shown, ...(sumOf(rest) ? [{ pair: REST_PAIR, rows: rest }] : [])].map(
        ({ pair, rows }) => {
          const [channel, event] = pair.split(SEPARATOR) as [string, string];
          return { channel, event, rows: whole(rows) };
        },
      );
    },
  };
};
