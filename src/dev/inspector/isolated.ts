import { h, type Drawn } from './dom.js';

/** Hebrew, Arabic and their neighbours. */
const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * JSON, whose texts that run from right to left stand apart: they would otherwise take the signs around them, and their
 * neighbours, along.
 */
export const isolated = (json: string): Drawn[] =>
  json
    .split(/("(?:\\.|[^"\\])*")/)
    .map((part) => (FROM_THE_RIGHT.test(part) ? h('bdi', {}, part) : part));
