/** Both stores can keep the times between these, and they sort as texts. Postgres knows no year 0. */
const [MIN_MS, END_MS] = [Date.parse('0001-01-01T00:00:00Z'), Date.UTC(10_000, 0)];

/**
 * A date-time of RFC 3339 in UTC with milliseconds; undefined if it is none or not in the years 1 to 9999. A leap
 * second counts as second 59.
 */
export const isoTime = (text: string): string | undefined => {
  const time = Date.parse(text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  return time >= MIN_MS && time < END_MS ? new Date(time).toISOString() : undefined;
};
