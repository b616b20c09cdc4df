import type { Weather } from './server.js';

const MINUTE_MS = 60_000;

/** When the trouble begins. Before that all is well. */
export const TROUBLE_AT_MS = 2 * MINUTE_MS;
/** The whole of a run. */
export const LENGTH_MS = 35 * MINUTE_MS;

export interface Scenario {
  name: string;
  title: string;
  /** Time from its beginning to its end. */
  troubleMs: number;
  /** The state of the server, this long after the trouble began. */
  weather: (sinceMs: number) => Weather;
  /** Clients that have no network while the trouble lasts, as a share of all. */
  offline?: number;
}

const during = (troubleMs: number, weather: Weather) => (sinceMs: number) =>
  sinceMs < troubleMs ? weather : {};

const TEN_MINUTES_MS = 10 * MINUTE_MS;
const DEPLOY_MS = 30_000;
const WARM_UP_MS = 5 * MINUTE_MS;
/** Capacity of a server that has just started. */
const COLD = 0.1;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'refused',
    title: 'Ten minutes of refused connections',
    troubleMs: TEN_MINUTES_MS,
    weather: during(TEN_MINUTES_MS, { answer: { status: 0 } }),
  },
  {
    name: 'unavailable',
    title: 'Ten minutes of 503',
    troubleMs: TEN_MINUTES_MS,
    weather: during(TEN_MINUTES_MS, { answer: { status: 503 } }),
  },
  {
    name: 'brown-out',
    title: 'Ten minutes at half the capacity',
    troubleMs: TEN_MINUTES_MS,
    weather: during(TEN_MINUTES_MS, { capacity: 0.5 }),
  },
  {
    name: 'retry-after',
    title: 'Ten minutes of 429, each with Retry-After: 120',
    troubleMs: TEN_MINUTES_MS,
    weather: during(TEN_MINUTES_MS, { answer: { status: 429, retryAfterMs: () => 120_000 } }),
  },
  {
    name: 'retry-at',
    title: 'Ten minutes of 429, with one moment in Retry-After for all',
    troubleMs: TEN_MINUTES_MS,
    weather: during(TEN_MINUTES_MS, {
      answer: { status: 429, retryAfterMs: (sinceMs) => TEN_MINUTES_MS - sinceMs },
    }),
  },
  {
    name: 'deploy',
    title: 'A deploy: 30 s refused, then five minutes from a tenth to all of the capacity',
    troubleMs: DEPLOY_MS + WARM_UP_MS,
    weather: (sinceMs) => {
      if (sinceMs < DEPLOY_MS) return { answer: { status: 0 } };
      return { capacity: Math.min(1, COLD + ((1 - COLD) * (sinceMs - DEPLOY_MS)) / WARM_UP_MS) };
    },
  },
  {
    name: 'reconnect',
    title: 'A fifth of the clients without network for ten minutes, back at one moment',
    troubleMs: TEN_MINUTES_MS,
    weather: () => ({}),
    offline: 0.2,
  },
];
