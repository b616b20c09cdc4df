const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** `Date` turns February 30th into March. */
const isDay = (date: string): boolean => {
  const time = Date.parse(date);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
};

/** A leap second ends a day in UTC, whatever the hour at the offset (RFC 3339, section 5.7). */
const endsDay = (text: string): boolean =>
  new Date(text.toUpperCase().replace(':60', ':59')).toISOString().slice(11, 16) === '23:59';

/**
 * Whether the text is a date-time of RFC 3339, section 5.6. `Date.parse` cannot tell, since it takes many
 * other forms. The grammar wants an offset and the letter T.
 * https://www.rfc-editor.org/rfc/rfc3339#section-5.6
 */
export const isDateTime = (text: string): boolean => {
  const [, date, , second] = DATE_TIME.exec(text) ?? [];
  return !!date && isDay(date) && (second !== '60' || endsDay(text));
};
