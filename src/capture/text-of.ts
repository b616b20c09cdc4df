import type { TextLabels } from './types.js';

const LONGEST = 100;

/** The text of an element on one line, if it was asked for. */
export const textOf = ({ textContent }: Element, { text }: TextLabels): string | undefined =>
  text ? textContent?.replace(/\s+/g, ' ').trim().slice(0, LONGEST) : undefined;
