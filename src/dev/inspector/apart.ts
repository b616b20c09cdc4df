import { h, type Drawn } from './dom.js';

/** The names and texts of JSON: one that runs from right to left would else take the signs around it along. */
export const TEXT = /("(?:\\.|[^"\\])*")/;

/** A text of which each part that stands in these signs is an element: what stands in backticks is code. */
export const apart = (text: string, by: RegExp | string = '`', tag = 'code'): Drawn[] =>
  text.split(by).map((part, i) => (i % 2 ? h(tag, {}, part) : part));
