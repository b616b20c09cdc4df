import type { Fates } from './fates.js';

/** What a row promises: in words, and as a check that answers what is wrong with the fates of one run. */
export interface Promised {
  words: string;
  check: (fates: Fates) => string | undefined;
}

/** What may be otherwise than stored once: any number of records, or exactly so many. */
type Allowed = Partial<Record<'twice' | 'unknown' | 'dropped' | 'waiting' | 'lost', true | number>>;

const onceBut = (words: string, allowed: Allowed): Promised => ({
  words,
  check: (fates) => {
    const wrong = [
      wrongCount('stored twice', fates.twice, allowed.twice),
      wrongCount('unknown', fates.unknown, allowed.unknown),
      wrongCount('dropped', fates.dropped, allowed.dropped),
      wrongCount('still waiting', fates.waiting, allowed.waiting),
      wrongCount('lost', fates.lost, allowed.lost),
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

export const unknown = (count: number): Promised =>
  onceBut(`${count} counted \`unknown\`, the others once`, { unknown: count });

/** Where a process is killed before its last calls have reached the disk. */
export const onceUnlessLost = onceBut('none twice', { unknown: true, lost: true });

/** Where records wait for a later page than the row opens. */
export const onceOrWaiting = onceBut('each once, or still in the outbox', { waiting: true });
