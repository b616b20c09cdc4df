/** Those that both engines can keep, and that sort as texts. */
const FIRST = Date.UTC(0, 0, 1);
const [MIN_MS, MAX_MS] = [FIRST, Date.UTC(9_999, 11, 31)];

/**
 * A date-time of RFC 3339 in UTC with milliseconds, or undefined where it is none or not in the years 1900 to 9998,
 * such as one from a clock that was never set. The second 60 of a leap second counts as 59.
 */
export const isoTime = (text: string): string | undefined => {
  const time = Date.parse(text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  return time >= MIN_MS && time <= MAX_MS ? new Date(time).toISOString() : undefined;
};
