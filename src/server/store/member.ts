import type { ValueCount } from './port.js';

/** Characters of a value that the database answers with. */
export const MAX_VALUE = 256;

type Member = Omit<ValueCount, 'rows'>;

/** Reads a value as the databases write it: `s` a text, `n` a number, `l` true, false or null, `o` an object or a list. */
export const readMember = (text: string): Member => {
  const [kind, value] = [text[0], text.slice(1)];
  if (kind === 'n') return { value: String(Number(value)) };
  const isCut = value.length > MAX_VALUE && Array.from(value).length > MAX_VALUE;
  const shown = isCut ? Array.from(value).slice(0, MAX_VALUE).join('') : value;
  return kind === 'o' || isCut ? { value: shown, is_part: true } : { value: shown };
};

/** The texts of a value that a filter `name=value` means. */
export const memberTexts = (value: string): string[] => ['s', 'n', 'l'].map((kind) => kind + value);
