import { mayFail } from '../../util/may-fail.js';
import { isObject } from '../../util/is-object.js';
import { storableText } from './storable.js';

/** The characters of a word. */
const IN_WORD = /[\p{L}\p{N}_]/u;

/**
 * Whether a refused body names a user, in any field and in any spelling of JSON: `"u"`, `"\u0075"`, and `42` or `4.2e1`
 * for the user `42`. A body that is cut, or no JSON, is searched for the id as a word. It is better to find too many
 * than too few: they are erased, and served only to find a fault.
 */
export const namesUser = (body: string, userId: string): boolean => {
  const value = mayFail(() => JSON.parse(body) as unknown);
  return value === undefined ? hasWord(unescaped(body), userId) : hasValue(value, userId);
};

const hasValue = (value: unknown, userId: string): boolean => {
  if (typeof value === 'number') return String(value) === userId || value === Number(userId);
  if (typeof value === 'string') {
    // Some clients send JSON inside of JSON, which is refused because it is a text.
    return storableText(value) === userId || (/^\s*[[{]/.test(value) && namesUser(value, userId));
  }
  if (Array.isArray(value)) return value.some((item) => hasValue(item, userId));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, item]) =>
    [key, item].some((one) => hasValue(one, userId)),
  );
};

/** Decodes the escapes of JSON in a text that may be cut. */
const unescaped = (text: string): string =>
  text.replace(
    /\\(?:u[\da-f]{4}|["\\/bfnrt])/gi,
    (escape) => mayFail(() => JSON.parse(`"${escape}"`) as string) ?? escape,
  );

const hasWord = (text: string, word: string): boolean => {
  for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + 1)) {
    const around = [text.charAt(start - 1), text.charAt(start + word.length)];
    if (!around.some((character) => IN_WORD.test(character))) return true;
  }
  return false;
};
