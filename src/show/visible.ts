/**
 * What strangers sent may hold signs that nobody sees: a name of one zero-width space, marks that turn the direction
 * of a line. They are shown by their numbers. A joiner inside an emoji or a word is part of how it is written, and
 * stays as it is.
 */
const JOINED_BEFORE = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\p{L}\p{M}]`;
const JOINED_AFTER = String.raw`[\p{Extended_Pictographic}\p{L}\p{M}]`;
const ALWAYS_HIDDEN = [
  // Controls, formats, private and lone halves, separators of lines.
  String.raw`(?![\u200C\u200D\u{E0020}-\u{E007F}])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]`,
  // Letters and marks that have no shape.
  String.raw`[\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0]`,
  // Spaces other than the two that everybody types.
  String.raw`(?![ \u00A0])\p{Zs}`,
];
const HIDDEN = new RegExp(
  [
    String.raw`(?<!${JOINED_BEFORE})[\u200C\u200D]`,
    String.raw`[\u200C\u200D](?!${JOINED_AFTER})`,
    // The flags of England, Scotland and Wales are a black flag with tags.
    String.raw`(?<![\u{1F3F4}\u{E0020}-\u{E007F}])[\u{E0020}-\u{E007F}]`,
    ...ALWAYS_HIDDEN,
  ].join('|'),
  'gu',
);

/** A stretch of text, or a sign that has to be shown by its number. */
export type Part = string | { sign: string };

const NAMES: Readonly<Record<string, string>> = { '\n': '↵', '\t': '⇥' };

const signOf = (hidden: string): string =>
  NAMES[hidden] ?? `U+${hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** Splits a text at the signs that nobody would see. */
export const visibleParts = (text: string): Part[] => {
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: hidden, index } of text.matchAll(HIDDEN)) {
    if (index > end) parts.push(text.slice(end, index));
    parts.push({ sign: signOf(hidden) });
    end = index + hidden.length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
};

/** The same as plain text, for titles and labels. */
export const visibleText = (text: string): string =>
  visibleParts(text)
    .map((part) => (typeof part === 'string' ? part : part.sign))
    .join('');

/**
 * Writes the hidden signs of JSON or JavaScript as `\u200b`, which both read as the same sign. Line breaks stay: in
 * code that came out of `JSON.stringify` they stand between values only.
 */
export const escapeHidden = (code: string): string =>
  code.replace(HIDDEN, (hidden) =>
    hidden === '\n'
      ? hidden
      : Array.from({ length: hidden.length }, (_, at) => escapeUnit(hidden.charCodeAt(at))).join(
          '',
        ),
  );

const escapeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/** The beginning of a long text, and how many characters are left out. No pair of surrogates is split. */
export const cut = (text: string, max: number): { text: string; left: number } => {
  if (text.length <= max) return { text, left: 0 };
  const last = text.charCodeAt(max - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? max - 1 : max;
  return { text: text.slice(0, end), left: text.length - end };
};
