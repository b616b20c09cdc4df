import type { Fates } from './fates.js';

/** What a row promises: in words, and as a check that answers what is wrong with the fates of one run. */
export interface Promised {
  words: string;
  check: (fates: Fates) => string | undefined;
}

type Allowed = Partial<Record<'twice' | 'unknown' | 'dropped', true | number>>;

/** Each once, but for what is allowed: as many as there may be, or exactly so many. */
const onceBut = (words: string, allowed: Allowed): Promised => ({
  words,
  check: (fates) => {
    const wrong = [
      wrongCount('stored twice', fates.twice, allowed.twice),
      wrongCount('unknown', fates.unknown, allowed.unknown),
      wrongCount('dropped', fates.dropped, allowed.dropped),
      wrongCount('still waiting', fates.waiting, undefined),
      wrongCount('lost', fates.lost, undefined),
      wrongCount('of a name nobody called', fates.strange, undefined),
    ].filter((problem) => problem !== undefined);
    return wrong.length ? wrong.join(', ') : undefined;
  },
});

const wrongCount = (what: string, count: number, allowed: true | number | undefined) => {
  if (allowed === true || count === (allowed ?? 0)) return undefined;
  return `${count} ${what}${allowed ? `, not ${allowed}` : ''}`;
};

export const allOnce = onceBut('each once', {});

export const onceOrUnknown = onceBut('each once, or counted `unknown`; none twice', {
  unknown: true,
});

/** Where a request was stored and its answer lost, and the service cannot tell repeats. */
export const atLeastOnce = onceBut('each at least once; twice where the answer was lost', {
  twice: true,
});

export const dropped = (count: number, reason: string): Promised =>
  onceBut(`${count} dropped with a reason (\`${reason}\`), the others once`, { dropped: count });
