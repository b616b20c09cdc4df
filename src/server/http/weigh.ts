/** Values that a body may have. A body of a page has 60,000 bytes at the most, and so fewer values. */
const MAX_VALUES = 32_768;
const TOKEN_BYTES = 4_096;
const TOKEN_VALUES = 256;
/** The depth of a record in a batch: it is in a list in an object. */
const RECORD_DEPTH = 3;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The index of the quote that ends the string which begins at `start`. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
};

/** What a body that is refused before it is complete costs of its client's rate limit. */
export const weighBytes = (bytes: number): number => Math.max(1, Math.ceil(bytes / TOKEN_BYTES));

interface Weight {
  /** What the body costs of its client's rate limit. */
  tokens: number;
  /** It has more values than may be parsed. */
  isTooMuch: boolean;
}

/**
 * What a body costs. It is weighed before it is parsed, since parsing costs many times as much, and a kilobyte of gzip
 * can hold 350,000 objects. One token is charged for each record, each 4 KiB or each 256 values, whichever gives the
 * most.
 */
export const weighBody = (text: string): Weight => {
  let depth = 0;
  let values = 1;
  let records = 0;
  for (let i = 0; i < text.length && values <= MAX_VALUES; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (code === COMMA) values++;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      values++;
      depth++;
      if (depth === RECORD_DEPTH && code === OPEN_OBJECT) records++;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--;
  }
  return {
    tokens: Math.ceil(Math.max(1, records, text.length / TOKEN_BYTES, values / TOKEN_VALUES)),
    isTooMuch: values > MAX_VALUES,
  };
};
