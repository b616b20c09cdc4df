/** A claim on an id that is to be given up, if one of this process's calls with a number from `first` to `last` made it. */
export interface GivenUp {
  id: string;
  first: number;
  last: number;
}

/** What a call does with ids. */
interface Call {
  claims?: readonly string[];
  forgets?: readonly string[];
}

/** At most so many claims are remembered. The oldest stay: the store had got those calls, and was away when the later ones came. */
const MOST = 10_000;
/** At most so many are given up in one call, so that it stays short. */
const MOST_AT_ONCE = 1_000;

/**
 * Numbers the calls by which a process claims ids and forgets claims. A call that fails may leave claims behind: the
 * store did what it was asked and the answer was lost, or it could not forget. Until these claims end, pages would hear
 * that somebody is sending the records. So the next calls give such claims up. A claim keeps the number of the call
 * that made it, which tells it from another claim of this process on the same id, which may be needed.
 */
export const createClaimCalls = () => {
  let calls = 0;
  let lost: readonly GivenUp[] = [];

  return async <Answer>(
    { claims = [], forgets = [] }: Call,
    ask: (number: number, givenUp: readonly GivenUp[]) => Promise<Answer>,
  ): Promise<Answer> => {
    const number = ++calls;
    const givenUp = [
      ...lost.slice(0, MOST_AT_ONCE),
      ...forgets.map((id) => ({ id, first: 1, last: number })),
    ];
    lost = lost.slice(MOST_AT_ONCE); // calls beside this one need not give them up, too
    try {
      return await ask(number, givenUp);
    } catch (error) {
      const own = claims.map((id) => ({ id, first: number, last: number }));
      lost = [...givenUp, ...own, ...lost].slice(0, MOST);
      throw error;
    }
  };
};
