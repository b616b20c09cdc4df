import { TROUBLE_AT_MS } from './scenarios.js';
import type { Second } from './server.js';

export interface Figures {
  /** Most requests in a few seconds over the steady rate, while the trouble lasted and after it. */
  peakDuring: number;
  peakAfter: number;
  /** From the end of the trouble until no more waits than on a good day; none where that did not come. */
  drainS: number | undefined;
  /** Share of the requests, from the beginning of the trouble on, that were of no use. */
  wasted: number;
  /** Share of the records that were stored more than once. */
  repeated: number;
}

/** The fleet has drained when no more records wait than it makes in this time: calls wait a second for a flush. */
const DRAINED_S = 5;

/** A peak is measured over this time, because one second of a part of the fleet is mostly chance. */
const PEAK_S = 5;

const most = (seconds: readonly Second[]): number => {
  let [sum, highest] = [0, 0];
  seconds.forEach(({ sent }, i) => {
    sum += sent - (seconds[i - PEAK_S]?.sent ?? 0);
    highest = Math.max(highest, sum / PEAK_S);
  });
  return highest;
};

export const measure = (
  seconds: readonly Second[],
  perSecond: number,
  troubleMs: number,
): Figures => {
  const begin = TROUBLE_AT_MS / 1_000;
  const end = begin + troubleMs / 1_000;
  const since = seconds.slice(begin);
  const after = seconds.slice(end);
  const sum = (key: keyof Second) => since.reduce((total, second) => total + second[key], 0);
  const lastBusy = after.findLastIndex(({ waiting }) => waiting > DRAINED_S * perSecond);
  const sent = sum('sent');
  const repeated = sum('repeated');
  return {
    peakDuring: most(seconds.slice(begin, end)) / perSecond,
    peakAfter: most(after) / perSecond,
    drainS: lastBusy === after.length - 1 ? undefined : lastBusy + 1,
    wasted: sum('wasted') / sent,
    repeated: repeated / (sent - sum('wasted')),
  };
};

/** The first minute of an outage costs the most, since a page tries again within a second at first. */
const MOST = 10;
const MOST_REPEATED = 0.02;

/** Whether clients were kind enough to the server, and all that they made has come to it. */
export const isWithin = ({ peakDuring, peakAfter, drainS, repeated }: Figures): boolean =>
  Math.max(peakDuring, peakAfter) <= MOST && drainS !== undefined && repeated <= MOST_REPEATED;
