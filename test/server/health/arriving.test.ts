import { describe, expect, it } from 'vitest';
import {
  HOUR_MS,
  hourOf,
  judgeArriving,
  PAST_HOURS,
  worstOf,
  type Past,
} from '../../../src/server/health/arriving.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
const WEEKS = 12;
/** A Monday. */
const START = Date.UTC(2026, 0, 5);

/** The same numbers for the same seed. */
const createRandom = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

/** Rows an hour that a site has at some time. */
type Shape = (at: { hour: number; weekday: number; day: number }) => number;
const isWeekend = (weekday: number): boolean => weekday >= 5;
/** From none at night to this at the middle of the day. */
const byDay = (most: number, hour: number): number =>
  most * (0.05 + 0.95 * Math.max(0, Math.sin(((hour - 6) / 24) * 2 * Math.PI)));

const SHAPES: Readonly<Record<string, Shape>> = {
  'of a large shop': ({ hour }) => byDay(1_500, hour),
  'of a shop': ({ hour, weekday }) => byDay(isWeekend(weekday) ? 400 : 250, hour),
  'of a small site': ({ hour }) => byDay(20, hour),
  'of an office, from 8 to 18 on workdays': ({ hour, weekday }) =>
    !isWeekend(weekday) && hour >= 8 && hour < 18 ? 120 : 0,
  'with newsletters': ({ hour, weekday }) =>
    byDay(40, hour) + (weekday === 1 && hour >= 9 && hour < 11 ? 3_000 : 0),
  'with a newsletter now and then': ({ hour, day }) =>
    byDay(60, hour) + (day % 17 === 3 && hour >= 9 && hour < 12 ? 5_000 : 0),
  'of three rows a day': () => 3 / 24,
  'of the night alone': ({ hour }) => (hour >= 22 || hour < 4 ? 60 : 0),
  'that is always the same': () => 100,
  'of weekends alone': ({ hour, weekday }) => (isWeekend(weekday) ? byDay(200, hour) : 0),
};

/** The arrivals of some weeks, each at a time of its own. */
const play = (shape: Shape, random: () => number): number[] => {
  const arrivals: number[] = [];
  for (let hour = 0; hour < WEEKS * 7 * 24; hour++) {
    const day = Math.floor(hour / 24);
    const rate = shape({ hour: hour % 24, weekday: day % 7, day });
    // As a Poisson process: the times between arrivals are exponential.
    for (let at = 0; rate > 0;) {
      at += (-Math.log(1 - random()) / rate) * HOUR_MS;
      if (at >= HOUR_MS) break;
      arrivals.push(START + hour * HOUR_MS + at);
    }
  }
  return arrivals;
};

/** What is known of the hours, as it grows. */
const createHours = () => {
  const hours = new Map<number, number>();
  return {
    hours,
    add: (at: number): void => {
      const hour = hourOf(at);
      hours.set(hour, (hours.get(hour) ?? 0) + 1);
      for (const old of hours.keys()) {
        if (old >= hour - PAST_HOURS) break;
        hours.delete(old);
      }
    },
  };
};

const isSilent = (past: Past): boolean => judgeArriving(past).state === 'silent';

const falseAlarms = (arrivals: readonly number[], isWrong = isSilent): number => {
  const { hours, add } = createHours();
  let alarms = 0;
  arrivals.forEach((at, index) => {
    add(at);
    const next = arrivals[index + 1] ?? at;
    if (next - at < 15 * MINUTE_MS) return;
    // What is silent stays so until a row comes.
    if (isWrong({ now: next, last: at, hours })) alarms++;
  });
  return alarms;
};

describe.each(Object.entries(SHAPES))('the traffic %s', (_, shape) => {
  it('gives no more than one false alarm in five weeks', () => {
    const alarms = [1, 2, 3, 4].map((seed) => falseAlarms(play(shape, createRandom(seed))));
    expect(alarms.reduce((sum, one) => sum + one, 0) / (alarms.length * WEEKS)).toBeLessThan(0.2);
  });
});

it('gives no more than one false alarm in five weeks where all of them are projects of one service', () => {
  /** Whether the service says so, at any hour since the newest row of this project. */
  const worries = ({ now, last, hours }: Past): boolean => {
    const hourly = Array.from({ length: hourOf(now - last) }, (_, n) => last + (n + 1) * HOUR_MS);
    return [...hourly, now].some((now) => {
      const project = judgeArriving({ now, last, hours });
      return worstOf({ state: 'usual' }, [project]).state === 'silent';
    });
  };
  const alarms = Object.values(SHAPES).map((shape) =>
    falseAlarms(play(shape, createRandom(1)), worries),
  );
  expect(alarms.reduce((sum, one) => sum + one, 0) / WEEKS).toBeLessThan(0.2);
});

/** How long after a site went dead that is noticed. */
const noticed = (shape: Shape, deadAt: number): number => {
  const { hours, add } = createHours();
  const arrivals = play(shape, createRandom(9)).filter((at) => at < deadAt);
  arrivals.forEach(add);
  const last = arrivals.at(-1)!;
  let now = last;
  while (judgeArriving({ now, last, hours }).state !== 'silent') now += MINUTE_MS;
  return now - deadAt;
};
const ON_A_WEDNESDAY = START + 5 * 7 * DAY_MS + 2 * DAY_MS + 13.4 * HOUR_MS;

it.each([
  ['of a large shop', 20],
  ['of a shop', 40],
  ['that is always the same', 40],
  ['of an office, from 8 to 18 on workdays', 40],
])('a dead tag is seen in time with the traffic %s: %i min', (name, minutes) => {
  expect(noticed(SHAPES[name]!, ON_A_WEDNESDAY)).toBeLessThanOrEqual(minutes * MINUTE_MS);
});

it('a dead tag of three rows a day is seen within three days, and stays seen', () => {
  const ms = noticed(SHAPES['of three rows a day']!, ON_A_WEDNESDAY);
  expect(ms).toBeLessThanOrEqual(3 * DAY_MS);
});

it('what is silent stays so for weeks, whatever the hour', () => {
  const { hours, add } = createHours();
  const arrivals = play(SHAPES['of a shop']!, createRandom(4)).filter((at) => at < ON_A_WEDNESDAY);
  arrivals.forEach(add);
  const last = arrivals.at(-1)!;
  const states = Array.from({ length: 24 * 40 }, (_, hour) => {
    return judgeArriving({ now: last + (hour + 1) * HOUR_MS, last, hours }).state;
  });
  expect(new Set(states)).toEqual(new Set(['silent']));
});

it('nothing is judged before a week has passed', () => {
  const hours = new Map([[hourOf(START), 500]]);
  const after = (ms: number) => judgeArriving({ now: START + ms, last: START + 1, hours }).state;
  expect(after(7 * DAY_MS - HOUR_MS)).toBe('learning');
  expect(after(7 * DAY_MS)).toBe('silent');
  expect(judgeArriving({ now: START, last: START, hours: new Map() }).state).toBe('learning');
});

it('says how many rows an hour are usual at this time', () => {
  const now = START + 14.5 * DAY_MS;
  const hours = new Map<number, number>();
  for (let day = 0; day <= 14; day++) hours.set(hourOf(START + (day + 0.5) * DAY_MS), 100 + day);
  // The middle one of the seven days before this hour, or of one or two weeks ago, if these had fewer.
  expect(judgeArriving({ now, last: now - 1, hours })).toEqual({
    ...{ state: 'usual', usual: 100, last: new Date(now - 1).toISOString() },
  });
});
