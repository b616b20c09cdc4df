const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** Records a second, by the clock of the service. */
export interface Rate {
  count(atMs: number): void;
  /** Records a second over the last seconds. */
  current(nowMs: number): number;
}

/** So many seconds are taken together for the rate of this moment. */
const CURRENT_S = 5;
/** So many seconds are kept, since rows may come a little late. */
const KEPT_S = 60;

export const createRate = (): Rate => {
  const counts = new Map<number, number>();
  return {
    count(atMs) {
      const second = secondOf(atMs);
      counts.set(second, (counts.get(second) ?? 0) + 1);
      if (counts.size <= 2 * KEPT_S) return;
      for (const old of counts.keys()) if (old < second - KEPT_S) counts.delete(old);
    },
    current(nowMs) {
      const now = secondOf(nowMs);
      let total = 0;
      for (let second = now - CURRENT_S; second < now; second++) total += counts.get(second) ?? 0;
      return total / CURRENT_S;
    },
  };
};
