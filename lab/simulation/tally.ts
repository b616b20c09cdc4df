import { EXCUSES, type Check, type Excuse, type Rule } from './excuses.js';

/** Of one world: how much each check looked at, and for how much of it each excuse was used. */
export interface Tally {
  looked: Partial<Record<Check, number>>;
  used: Partial<Record<Excuse, number>>;
}

interface Line {
  excuse: Excuse;
  used: number;
  looked: number;
  ceiling: number;
  isOverused: boolean;
}

/**
 * Sums up many worlds. The records of one world share their faults, so chance is judged by world: an excuse is
 * overused when it is above its ceiling by more than two standard errors. A few worlds cannot show that.
 */
export const createSum = () => {
  const sums = Object.entries(EXCUSES).map(([excuse, { check, ceiling }]: [string, Rule]) => ({
    excuse: excuse as Excuse,
    check,
    ceiling,
    used: 0,
    looked: 0,
    squares: 0,
  }));

  return {
    add: (tally: Tally): void => {
      for (const sum of sums) {
        const used = tally.used[sum.excuse] ?? 0;
        const looked = tally.looked[sum.check] ?? 0;
        sum.used += used;
        sum.looked += looked;
        sum.squares += (used - sum.ceiling * looked) ** 2;
      }
    },
    lines: (): Line[] =>
      sums.map(({ excuse, used, looked, ceiling, squares }) => ({
        excuse,
        used,
        looked,
        ceiling,
        isOverused: used - ceiling * looked > 2 * Math.sqrt(squares),
      })),
  };
};

const percent = (share: number): string => `${(100 * share).toFixed(3)} %`;

/** For people to read. */
export const inWords = ({ excuse, used, looked, ceiling, isOverused }: Line): string => {
  const share = percent(looked > 0 ? used / looked : 0).padStart(9);
  const verdict = isOverused ? `TOO OFTEN: at most ${percent(ceiling)}` : '';
  return `${excuse.padEnd(70)} ${String(used).padStart(7)} of ${String(looked).padEnd(8)} ${share} ${verdict}`.trimEnd();
};
