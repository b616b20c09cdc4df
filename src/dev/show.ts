/** A value in a message. */
export const show = (value: unknown): string =>
  typeof value === 'string'
    ? `"${value}"`
    : typeof value === 'function'
      ? 'a function'
      : String(value);
