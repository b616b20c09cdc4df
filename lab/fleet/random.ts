/** Numbers from 0 to below 1 that are the same for the same seed (xorshift128). */
export const createRandom = (seed: number): (() => number) => {
  let [x, y, z, w] = [seed | 0 || 1, 362_436_069, 521_288_629, 88_675_123];
  const next = (): number => {
    const t = x ^ (x << 11);
    [x, y, z] = [y, z, w];
    w = w ^ (w >>> 19) ^ t ^ (t >>> 8);
    return (w >>> 0) / 2 ** 32;
  };
  // The first ones tell of the seed.
  for (let i = 0; i < 20; i++) next();
  return next;
};

/** Time to the next of events that come independently of each other, so often on average. */
export const untilNext = (random: () => number, averageMs: number): number =>
  -Math.log(1 - random()) * averageMs;
