import { h, type Drawn } from './dom.js';

/** JSON whose texts stand apart: one that runs from right to left would else take the signs around it along. */
export const isolated = (json: string): Drawn[] =>
  json.split(/("(?:\\.|[^"\\])*")/).map((part, i) => (i % 2 ? h('bdi', {}, part) : part));
