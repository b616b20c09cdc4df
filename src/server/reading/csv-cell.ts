/** Behind these a spreadsheet begins a new cell, where it takes a semicolon or a tab for its separator. */
const BREAKS = String.raw`;\t-\r\u0085\u2028\u2029`;
/** What a spreadsheet may take for a formula begins with one of these. The full-width ones count in Japan. */
const SIGNS = String.raw`=+\-@＝＋－＠\t-\r\u0085\u2028\u2029`;

/** The places of a text that get an apostrophe. One that was sent counts as a sign, so that ours can be removed. */
const UNSAFE = new RegExp(`(?<=^|[${BREAKS}])(?="*[${SIGNS}'])`, 'gu');
/** Signs in JSON at such places, which are always inside of a text: JSON itself has no semicolon. */
const UNSAFE_IN_JSON = new RegExp(`(?<=[${BREAKS}])[${SIGNS}]`, 'gu');
const NEEDS_QUOTES = new RegExp(`[",${BREAKS}]`, 'u');

const escapeUnit = (sign: string): string =>
  `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text, or a list or object as JSON, in which a spreadsheet finds no formula. */
const safeText = (value: unknown): string =>
  typeof value === 'string'
    ? value.replace(UNSAFE, "'")
    : JSON.stringify(value).replace(UNSAFE_IN_JSON, escapeUnit);

/**
 * A cell as RFC 4180 has it. Strangers send the texts, so they get an apostrophe wherever a spreadsheet would find a
 * formula, with whatever separator it reads the file. https://owasp.org/www-community/attacks/CSV_Injection
 */
export const csvCell = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  const text = safeText(value);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
