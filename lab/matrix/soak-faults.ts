import type { FaultRule } from '../../demo/server/fault-rules.js';

/** Something that goes wrong for some seconds of a soak. */
export type SoakFault =
  { name: string; rules: FaultRule[] } | { name: 'offline' } | { name: 'hidden' };

const forAWhile = (name: string, rule: FaultRule): SoakFault => ({ name, rules: [rule] });

export const SOAK_FAULTS: readonly SoakFault[] = [
  { name: 'none', rules: [] },
  forAWhile('500', { status: 500 }),
  forAWhile('503', { status: 503, headers: { 'retry-after': '1' } }),
  forAWhile('429', { status: 429, headers: { 'retry-after': '2' } }),
  forAWhile('408', { status: 408, times: 5 }),
  forAWhile('hang', { hang: true, times: 3 }),
  forAWhile('hang after storing', { hang: true, after: true, times: 3 }),
  forAWhile('reset', { reset: true, times: 3 }),
  forAWhile('reset after storing', { reset: true, after: true, times: 3 }),
  forAWhile('slow', { delay: 800 }),
  { name: 'offline' },
  { name: 'hidden' },
];
