/** z of 95 %. */
const Z = 1.959964;

/** Wilson's 95 % confidence interval of a share: holds near 0 and 1, where the usual one does not. */
export const wilson = (successes: number, trials: number): [low: number, high: number] => {
  if (trials === 0) return [0, 1];
  const share = successes / trials;
  const square = Z * Z;
  const centre = share + square / (2 * trials);
  const spread = Z * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials * trials));
  const scale = 1 + square / trials;
  return [Math.max(0, (centre - spread) / scale), Math.min(1, (centre + spread) / scale)];
};
