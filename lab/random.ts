/** Draws that repeat for the same seed. */
export interface Dice {
  /** From 0 up to, but not including, 1. */
  next: () => number;
  /** A whole number from `least` to `most`. */
  between: (least: number, most: number) => number;
  /** True with this probability, from 0 to 1. */
  chance: (share: number) => boolean;
  pick: <T>(choices: readonly T[]) => T;
  /** Picks a name; one with twice the weight is picked twice as often. */
  weigh: <T extends string>(weights: Record<T, number>) => T;
}

/** Mulberry32: small, fast, and good enough to choose faults by. */
const mulberry = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

/** Makes neighbouring seeds, and the streams of one seed, differ from each other. */
const spread = (seed: number, stream: string): number => {
  let hash = 2_166_136_261 ^ seed;
  for (const char of `${seed} ${stream}`) {
    hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  }
  return hash;
};

/** One stream for each purpose, so that a draw left out of one does not change the others. */
export const createDice = (seed: number, stream: string): Dice => {
  const next = mulberry(spread(seed, stream));
  const dice: Dice = {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (share) => next() < share,
    pick: (choices) => choices[Math.floor(next() * choices.length)]!,
    weigh: <T extends string>(weights: Record<T, number>): T => {
      const names = Object.keys(weights) as T[];
      let left = next() * names.reduce((sum, name) => sum + weights[name], 0);
      return names.find((name) => (left -= weights[name]) < 0) ?? names.at(-1)!;
    },
  };
  return dice;
};

/** Milliseconds until the next of events that are independent of each other and this far apart on average. */
export const untilNext = (random: () => number, averageMs: number): number =>
  -Math.log(1 - random()) * averageMs;
