import { delayMs } from '../../../../show/times.js';
import type { DelayClass } from '../../../../show/words.js';
import type { Hour, Hours, Row } from '../../../store/port.js';

export const RANGES = ['10m', '24h', '7d', '30d'] as const;
export type Range = (typeof RANGES)[number];

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1000, 60_000, 3_600_000];
const DAY_MS = 24 * HOUR_MS;
export const CLASSES: readonly DelayClass[] = ['in_2s', 'in_1m', 'in_1h', 'later', 'from_server'];

/** A range of time in bars. */
export interface Span {
  /** Where each bar begins, and the last one ends. */
  bounds: readonly number[];
  /** How long a slot is that is counted as a whole; a bar has one or more. */
  slotMs: number;
  /** How much earlier the time before is. */
  backMs: number;
}

const SLOT_MS: Readonly<Record<Range, number>> = {
  ...{ '10m': 15 * SECOND_MS, '24h': HOUR_MS, '7d': HOUR_MS, '30d': HOUR_MS },
};
const BACK_MS: Readonly<Record<Range, number>> = {
  ...{ '10m': 10 * MINUTE_MS, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS },
};
const QUARTER_H = 6;

/** Bars of 15 seconds, an hour, a quarter of a day, and a day; days are those of the reader's clock. */
export const spanOf = (range: Range, now: number): Span => {
  const [slotMs, backMs] = [SLOT_MS[range], BACK_MS[range]];
  const end = (Math.floor(now / slotMs) + 1) * slotMs;
  if (range === '10m' || range === '24h') {
    const count = backMs / slotMs;
    const bounds = Array.from({ length: count + 1 }, (_, at) => end - (count - at) * slotMs);
    return { bounds, slotMs, backMs };
  }
  const hours = range === '7d' ? QUARTER_H : 24;
  const days = backMs / DAY_MS;
  const at = (n: number): number => {
    const day = new Date(now);
    return new Date(
      day.getFullYear(),
      day.getMonth(),
      day.getDate() - days + 1,
      n * hours,
    ).getTime();
  };
  const bounds = [at(0)];
  while (bounds.at(-1)! < end) bounds.push(at(bounds.length));
  return { bounds, slotMs, backMs };
};

/** Sums rows by slots, in the form in which the service has the sums of hours. */
export const sumsOf = (rows: readonly Row[], slotMs: number): Hours => {
  const hours = new Map<number, Hour>();
  const pairs = new Map<string, Map<number, number>>();
  for (const row of rows) {
    const arrived = Date.parse(row.received_at);
    const slot = Math.floor(arrived / slotMs) * slotMs;
    const hour = hours.get(slot) ?? { hour: new Date(slot).toISOString(), ...noTotals() };
    hours.set(slot, hour);
    const late = delayMs(row);
    hour.rows++;
    hour.repeats += row.arrivals - 1;
    if (row.from_server) hour.from_server++;
    else
      hour[
        late <= 2000 ? 'in_2s' : late <= MINUTE_MS ? 'in_1m' : late <= HOUR_MS ? 'in_1h' : 'later'
      ]++;
    const pair = JSON.stringify([row.channel ?? '', row.event ?? '']);
    const counts = pairs.get(pair) ?? new Map<number, number>();
    pairs.set(pair, counts.set(slot, (counts.get(slot) ?? 0) + 1));
  }
  const slots = [...hours.keys()].sort((a, b) => a - b);
  return {
    hours: slots.map((slot) => hours.get(slot)!),
    events: [...pairs].map(([pair, counts]) => {
      const [channel, event] = JSON.parse(pair) as [string, string];
      return { channel, event, rows: slots.map((slot) => counts.get(slot) ?? 0) };
    }),
  };
};

/** Rows of one name, or of several. */
export interface Series {
  kind: 'event' | 'identify' | 'others';
  /** The name of the event; of all others none. */
  name: string;
  /** Its colour: the rank among those that the bars show apart. The rest has none. */
  hue?: number | 'identify' | undefined;
  /** Rows in each bar. */
  bars: number[];
  total: number;
  /** Rows in the whole slots so far, and in those of the time before. */
  whole: number;
  before: number;
}

export interface Overview {
  span: Span;
  /** Sums of the bars. */
  totals: Record<DelayClass | 'rows' | 'repeats', number>;
  /** Sums of the whole slots so far, and of the time before. */
  whole: Overview['totals'];
  before: Overview['totals'];
  /** Rows in each bar, and at the same time before. */
  bars: number[];
  barsBefore: number[];
  /** All names, those with the most rows first. */
  ranking: Series[];
  /** Those that the bars show apart, and all others as one. */
  stacked: Series[];
}

/** As many names have a colour of their own in the bars. */
const MAX_STACKED = 7;
const REST = '…';

const noTotals = (): Overview['totals'] => ({
  ...{ rows: 0, repeats: 0, in_2s: 0, in_1m: 0, in_1h: 0, later: 0, from_server: 0 },
});

export const overviewOf = ({ hours, events = [] }: Hours, span: Span, now: number): Overview => {
  const { bounds, slotMs, backMs } = span;
  const [start, end] = [bounds[0]!, bounds.at(-1)!];
  const wholeUntil = Math.floor(now / slotMs) * slotMs;
  const barOf = (at: number): number =>
    at < start ? -1 : at >= end ? -1 : bounds.findIndex((bound) => bound > at) - 1;
  const slots = hours.map(({ hour }) => {
    const at = Date.parse(hour);
    return {
      bar: barOf(at),
      barBefore: barOf(at + backMs),
      isWhole: at >= start && at < wholeUntil,
      isBefore: at + backMs >= start && at + backMs < wholeUntil,
    };
  });
  const none = (): number[] => Array.from({ length: bounds.length - 1 }, () => 0);

  const [totals, whole, before] = [noTotals(), noTotals(), noTotals()];
  const [bars, barsBefore] = [none(), none()];
  hours.forEach((hour, at) => {
    const { bar, barBefore, isWhole, isBefore } = slots[at]!;
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) {
      if (bar >= 0) totals[name] += hour[name];
      if (isWhole) whole[name] += hour[name];
      if (isBefore) before[name] += hour[name];
    }
    if (bar >= 0) bars[bar]! += hour.rows;
    if (barBefore >= 0) barsBefore[barBefore]! += hour.rows;
  });

  const all = new Map<string, Series>();
  for (const { channel, event, rows } of events) {
    const isRest = event === REST && channel === REST;
    const kind = isRest ? 'others' : event || channel ? 'event' : 'identify';
    const key = `${kind} ${event}`;
    const name = isRest ? '' : kind === 'identify' ? 'identify' : event;
    const series = all.get(key) ?? { kind, name, bars: none(), total: 0, whole: 0, before: 0 };
    all.set(key, series);
    rows.forEach((count, at) => {
      const { bar, isWhole, isBefore } = slots[at]!;
      if (bar >= 0) series.bars[bar]! += count;
      if (bar >= 0) series.total += count;
      if (isWhole) series.whole += count;
      if (isBefore) series.before += count;
    });
  }
  const ranking = [...all.values()]
    .filter(({ kind, total, before: earlier }) => kind !== 'others' && total + earlier > 0)
    .sort((a, b) => b.total - a.total || a.name.localeCompare(b.name));
  const rest = [...all.values()].filter(({ kind }) => kind === 'others');
  const apart = ranking.slice(0, MAX_STACKED).filter(({ total }) => total > 0);
  apart.forEach((series, rank) => (series.hue = series.kind === 'event' ? rank : 'identify'));
  const others = [...ranking.slice(MAX_STACKED), ...rest].filter(({ total }) => total > 0);
  const sum = others.reduce<Series>(
    (one, { bars: more, total }) => ({
      ...one,
      bars: one.bars.map((count, at) => count + more[at]!),
      total: one.total + total,
    }),
    { kind: 'others', name: '', bars: none(), total: 0, whole: 0, before: 0 },
  );
  const stacked = [...apart, ...(sum.total > 0 ? [sum] : [])];
  return { ...{ span, totals, whole, before, bars, barsBefore, ranking, stacked } };
};

/** By how much more or less than before, such as 0.12; undefined if there was nothing before. */
export const changeOf = (now: number, before: number): number | undefined =>
  before > 0 ? (now - before) / before : undefined;
