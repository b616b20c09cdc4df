import type { KnownCall } from './call.js';

/** How the page's account of a call and the service's database fit together. */
export interface Verdict {
  /** `wrong` is what must not be: twice, or delivered and not there. */
  kind: 'once' | 'waiting' | 'dropped' | 'unknown' | 'wrong';
  words: string;
}

interface Look {
  /** How often the database holds it. */
  stored: number;
  /** Whether the database was read after the fate was known. */
  isRead: boolean;
  /** Whether the database was emptied after the call: it may have held the record before. */
  isCleared: boolean;
}

const TIMES = ['never', 'once', 'twice'];

/** Undefined for a call whose record may have been deleted with all others. */
export const verdictOf = (
  { fate }: KnownCall,
  { stored, isRead, isCleared }: Look,
): Verdict | undefined => {
  if (stored === 1) return { kind: 'once', words: 'once' };
  if (stored > 1) return { kind: 'wrong', words: TIMES[stored] ?? `${stored} times` };
  if (fate.kind === 'dropped') return { kind: 'dropped', words: 'never' };
  if (fate.kind === 'unknown') return { kind: 'unknown', words: 'not there' };
  if (fate.kind === 'delivered' && isCleared) return undefined;
  if (fate.kind === 'delivered' && isRead) return { kind: 'wrong', words: 'never' };
  return { kind: 'waiting', words: 'not yet' };
};

export type Tally = Record<Verdict['kind'] | 'made', number>;

export const tallyOf = (verdicts: readonly Verdict[]): Tally => {
  const tally = { made: verdicts.length, once: 0, waiting: 0, dropped: 0, unknown: 0, wrong: 0 };
  for (const { kind } of verdicts) tally[kind]++;
  return tally;
};
