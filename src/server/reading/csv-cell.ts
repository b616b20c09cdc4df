/** Characters after which a new cell may begin, if the spreadsheet separates cells by semicolons or tabs. */
const BREAKS = String.raw`;\t-\r\u0085\u2028\u2029`;
/** Characters that may begin a formula. Japanese spreadsheets accept the full-width ones too. */
const SIGNS = String.raw`=+\-@＝＋－＠\t-\r\u0085\u2028\u2029`;

/** Where an apostrophe is put in. The text's own apostrophes get one too, so that a reader can take ours out again. */
const UNSAFE = new RegExp(`(?<=^|[${BREAKS}])(?="*[${SIGNS}'])`, 'gu');
/** The same places in JSON. They are always inside a string, since JSON itself has no semicolons. */
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
