/**
 * Whether parsed JSON has a number that no double holds, such as `1e400`: it is read as Infinity, which would be stored
 * as `null`. The value may not be deeper than `isDeeper` allows.
 */
export const hasInfinity = (value: unknown): boolean =>
  typeof value === 'number'
    ? !Number.isFinite(value)
    : typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
