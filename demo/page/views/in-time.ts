/** Time from now as a person would say it; tenths while they matter. */
export const inTime = (ms: number): string => {
  if (ms <= 0) return 'now';
  if (ms < 10_000) return `in ${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `in ${seconds} s` : `in ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};
