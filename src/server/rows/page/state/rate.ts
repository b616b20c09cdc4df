export const WINDOW_S = 600;
export const BAR_S = 5;
export const BARS = WINDOW_S / BAR_S;

const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** The second at which the last bar ends. Bars begin at full multiples, so that they move and do not change their heights. */
const endOf = (nowMs: number): number => (Math.floor(secondOf(nowMs) / BAR_S) + 1) * BAR_S;

/** Records a second, counted over the last ten minutes by the clock of the service. */
export interface Rate {
  count(atMs: number): void;
  /** Nothing is known of the time before this: the page was not there to count. */
  since: number;
  /** Records a second over the last seconds. */
  current(nowMs: number): number;
  /** Records in the busiest second of the bars, so never fewer than `current`. */
  peak(nowMs: number): number;
  /** Records in each bar of five seconds, oldest first; `undefined` where nothing is known. */
  bars(nowMs: number): (number | undefined)[];
}

/** So many seconds are taken together for the rate of this moment. */
const CURRENT_S = 5;

export const createRate = (sinceMs: number): Rate => {
  const counts = new Map<number, number>();
  const sum = (from: number, to: number): number => {
    let total = 0;
    for (let second = from; second < to; second++) total += counts.get(second) ?? 0;
    return total;
  };
  const forget = (before: number): void => {
    for (const second of counts.keys()) if (second < before) counts.delete(second);
  };

  const rate: Rate = {
    since: sinceMs,
    count(atMs) {
      const second = secondOf(atMs);
      counts.set(second, (counts.get(second) ?? 0) + 1);
      if (counts.size > 2 * WINDOW_S) forget(second - WINDOW_S - BAR_S);
    },
    current(nowMs) {
      const now = secondOf(nowMs);
      return sum(now - CURRENT_S, now) / CURRENT_S;
    },
    peak(nowMs) {
      const start = endOf(nowMs) - WINDOW_S;
      return Math.max(0, ...[...counts].map(([second, count]) => (second < start ? 0 : count)));
    },
    bars(nowMs) {
      const end = endOf(nowMs);
      return Array.from({ length: BARS }, (_, at) => {
        const from = end - (BARS - at) * BAR_S;
        return (from + BAR_S) * 1000 > rate.since ? sum(from, from + BAR_S) : undefined;
      });
    },
  };
  return rate;
};
