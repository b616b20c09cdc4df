/** `event 0`, `event 1` and so on: as many names as wanted. */
export const names = (count: number, prefix = 'event'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
