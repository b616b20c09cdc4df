const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2}))$/i;

const DAY_MINUTES = 24 * 60;

/**
 * Whether the text is a date-time of RFC 3339, section 5.6. `Date.parse` cannot tell: it takes many
 * other forms, and turns February 30th into March. The grammar wants an offset and the letter T.
 * https://www.rfc-editor.org/rfc/rfc3339#section-5.6
 */
export function isDateTime(text: string): boolean {
  const parts = DATE_TIME.exec(text);
  if (!parts) return false;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as Six;
  const offsetHour = Number(parts[8] ?? 0);
  const offsetMinute = Number(parts[9] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false;
  const offset = (parts[7] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  return second < 60 || (second === 60 && isLastMinute(hour * 60 + minute - offset));
}

type Six = [number, number, number, number, number, number];

/** A leap second ends a day in UTC, whatever the hour at the offset (RFC 3339, section 5.7). */
const isLastMinute = (utcMinute: number): boolean =>
  (utcMinute + DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1;

/** The calendar repeats every 400 years, and `Date` has ideas of its own about years before 100. */
const daysIn = (year: number, month: number): number =>
  new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
