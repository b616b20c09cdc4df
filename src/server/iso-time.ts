/** The earliest and the latest time that both stores can keep and that sort as texts. Postgres knows no year 0. */
const [MIN_MS, MAX_MS] = [Date.parse('0001-01-01T00:00:00Z'), Date.UTC(9_999, 11, 31)];

/**
 * A date-time of RFC 3339 in UTC with milliseconds; undefined if it is none or not in the years 1 to 9998. A leap
 * second counts as second 59.
 */
export const isoTime = (text: string): string | undefined => {
  const time = Date.parse(text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  return time >= MIN_MS && time <= MAX_MS ? new Date(time).toISOString() : undefined;
};
