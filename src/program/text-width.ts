const graphemes = new Intl.Segmenter();

/**
 * Characters that are two columns wide in terminals: emoji, and the scripts of East Asia.
 * https://www.unicode.org/reports/tr11/#Recommendations
 */
const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;

const columnsOf = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : 1);

/** How many columns of a terminal a text takes. */
export const widthOf = (text: string): number => {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += columnsOf(segment);
  return width;
};

/** The beginning of a text that fits into these columns, with an ellipsis if some is left out. */
export const cutToWidth = (text: string, columns: number): string => {
  let width = 0;
  /** The end of what fits beside an ellipsis. */
  let end = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    if (width < columns) end = index;
    width += columnsOf(segment);
    if (width > columns) return columns > 0 ? `${text.slice(0, end)}…` : '';
  }
  return text;
};
