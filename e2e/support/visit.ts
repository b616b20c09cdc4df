import { setTimeout as pause } from 'node:timers/promises';
import type { Evaluates } from './evaluates.js';
import { names } from './names.js';
import { track } from './track.js';
import { until } from './until.js';

/** One visit of somebody who never comes back. All times count from its first call. */
export interface Visit {
  /** Requests fail until then. */
  awayMs: number;
  calls: readonly { atMs: number; events: readonly string[] }[];
  /** The tab is closed then, or as soon as everything has arrived. */
  closedAtMs: number;
}

export const SHORT_OUTAGE: Visit = {
  awayMs: 3_000,
  calls: [{ atMs: 0, events: names(20) }],
  closedAtMs: 15_000,
};

export const LONGER_OUTAGE: Visit = {
  awayMs: 8_000,
  calls: [
    { atMs: 0, events: names(20, 'during') },
    { atMs: 10_000, events: names(5, 'after') },
  ],
  closedAtMs: 30_000,
};

/** The names of all events that are called in a visit. */
export const eventsOf = ({ calls }: Visit): string[] => calls.flatMap(({ events }) => events);

interface Parts {
  /** Ends the outage. It has begun already. */
  heal: () => unknown;
  /** How many records have arrived. */
  arrived: () => Promise<number>;
}

/** Calls what is called in the visit, and answers when the tab is to be closed. */
export const spendVisit = async (tab: Evaluates, visit: Visit, parts: Parts): Promise<void> => {
  const began = performance.now();
  const left = (atMs: number) => Math.max(0, atMs - (performance.now() - began));
  const calls = visit.calls.map(({ atMs, events }) => ({ atMs, run: () => track(tab, events) }));
  const steps = [...calls, { atMs: visit.awayMs, run: async () => parts.heal() }];
  for (const { atMs, run } of steps.toSorted((a, b) => a.atMs - b.atMs)) {
    await pause(left(atMs));
    await run();
  }
  const count = eventsOf(visit).length;
  await until(async () => (await parts.arrived()) >= count, { within: left(visit.closedAtMs) });
};
