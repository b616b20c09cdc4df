/** Draws that repeat for the same seed. */
export interface Dice {
  /** From 0 up to, but not including, 1. */
  next: () => number;
  /** A whole number from `least` to `most`. */
  between: (least: number, most: number) => number;
  /** True with this probability, from 0 to 1. */
  chance: (share: number) => boolean;
  pick: <T>(choices: readonly T[]) => T;
}

/** Mulberry32: small, fast, and good enough for latencies. Each purpose has a stream of its own. */
export const createDice = (seed: number, stream: number): Dice => {
  let state = Math.imul(seed ^ Math.imul(stream + 1, 0x9e3779b1), 0x85ebca6b);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (share) => next() < share,
    pick: (choices) => choices[Math.floor(next() * choices.length)]!,
  };
};
