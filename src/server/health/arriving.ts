/** Whether rows arrive as they usually do. */
export interface Arriving {
  /**
   * `silent`: none has come for longer than usual. `learning`: the rows of a week are needed to know what is usual.
   * `unknown`: the database did not answer yet.
   */
  state: 'usual' | 'silent' | 'learning' | 'unknown';
  /** When the newest row arrived. */
  last?: string;
  /** Rows that were to be expected in this hour. */
  usual?: number;
  /** The project that all this is said of, if it is silent while others are not. */
  project?: string;
}

/**
 * All projects are as bad as the worst of them: the first that is silent at an hour in which it usually has rows. One that
 * seldom has any is no reason to worry about all.
 */
export const worstOf = (all: Arriving, projects: readonly Arriving[]): Arriving =>
  (all.state === 'usual' && projects.find(({ state, usual }) => state === 'silent' && usual)) ||
  all;

/** What is known of the rows so far: the time of the newest, and the rows of each hour, by its number since 1970. */
export interface Past {
  now: number;
  last: number;
  hours: ReadonlyMap<number, number>;
}

export const HOUR_MS = 3_600_000;
/** Of how many hours before the newest row something is known: two weeks, and a day for the hours that are compared. */
export const PAST_HOURS = 15 * 24;
const [DAY, WEEK] = [24, 7 * 24];
/** A gap is too long if so many rows were to be expected in it, and it is this old. */
const [MANY, LEAST_MS] = [12, 15 * 60_000];
/** A gap of which nothing is to be expected is too long if it is so much longer than the longest one. */
const [TIMES, MORE_MS] = [1.5, 2 * HOUR_MS];

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);

/** The middle one; of two the lower. */
const medianOf = (counts: readonly number[]): number =>
  [...counts].sort((a, b) => a - b)[Math.floor((counts.length - 1) / 2)] ?? 0;

const createUsual = ({ last, hours }: Past, first: number) => {
  const lastHour = hourOf(last);
  /** The rows of this hour, some days or weeks ago: the latest that were over before the newest row. */
  const before = (hour: number, step: number, count: number): number[] => {
    const latest = hour - step * Math.max(1, Math.floor((hour - lastHour) / step) + 1);
    return Array.from({ length: count }, (_, n) => latest - n * step)
      .filter((one) => one >= first)
      .map((one) => hours.get(one) ?? 0);
  };
  /**
   * How many rows are to be expected in an hour: no more than on most of seven days, and no more than one and two weeks
   * ago. So neither a weekend nor the day after a newsletter counts as silence.
   */
  return (hour: number): number =>
    Math.min(medianOf(before(hour, DAY, 7)), ...before(hour, WEEK, 2));
};

/** Whether more rows were to be expected since the newest one than chance explains. */
const lacksMany = ({ now, last, hours }: Past, usualOf: (hour: number) => number): boolean => {
  const lastHour = hourOf(last);
  let expected = 0;
  for (let hour = lastHour; hour <= hourOf(now) && expected < MANY; hour++) {
    const usual = usualOf(hour);
    // Rows do not come evenly within an hour. One that has had half of its rows may have had all of them.
    if (hour === lastHour && (hours.get(hour) ?? 0) >= usual / 2) continue;
    const [from, to] = [Math.max(last, hour * HOUR_MS), Math.min(now, (hour + 1) * HOUR_MS)];
    expected += (usual * (to - from)) / HOUR_MS;
  }
  return expected >= MANY;
};

/** The longest time of two weeks before the newest row in which there was none. It is known to an hour. */
const longestGap = ({ last, hours }: Past, first: number): number => {
  const lastHour = hourOf(last);
  let [longest, empty] = [0, 0];
  for (let hour = Math.max(first, lastHour - 2 * WEEK); hour < lastHour; hour++) {
    empty = hours.get(hour) ? 0 : empty + 1;
    longest = Math.max(longest, empty);
  }
  return (longest + 1) * HOUR_MS;
};

/** Judges the time since the newest row by what this site did in the two weeks before it. */
export const judgeArriving = (past: Past): Arriving => {
  const { now, last, hours } = past;
  const known = { last: new Date(last).toISOString() };
  const first = Math.min(...hours.keys());
  if (!hours.size || hourOf(now) - first < WEEK) return { state: 'learning', ...known };
  const usualOf = createUsual(past, first);
  const gap = now - last;
  const isSilent =
    (gap >= LEAST_MS && lacksMany(past, usualOf)) ||
    gap > TIMES * longestGap(past, first) + MORE_MS;
  return { state: isSilent ? 'silent' : 'usual', usual: usualOf(hourOf(now)), ...known };
};
