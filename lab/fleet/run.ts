import { pageGlobals, replaceGlobals } from './globals.js';
import type { Client, World } from './clients.js';
import { createOutboxClient } from './outbox-client.js';
import { createDice, untilNext } from '../random.js';
import { LENGTH_MS, TROUBLE_AT_MS, type Scenario } from './scenarios.js';
import { createScheduler, timersOf } from './scheduler.js';
import { createServer, type Second } from './server.js';

/**
 * Clients differ: the busiest makes a call every half minute on average, the quietest every half hour. The
 * logarithm of that is spread evenly.
 */
const BUSIEST_MS = 30_000;
const QUIETEST_MS = 1_800_000;
/** Share of the calls that come with a new page of the site. */
const NAVIGATES = 0.5;
/** What the server can do on a good day, over what it has to do. */
export const HEADROOM = 1.6;

const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** Time between the calls of a client, on average. Neighbours differ, so that a share of all is a fair one. */
const callEvery = (client: number): number =>
  BUSIEST_MS * (QUIETEST_MS / BUSIEST_MS) ** ((client * GOLDEN) % 1);

/** Calls a second of so many clients together. */
export const callsPerSecond = (clients: number): number => {
  const perClient = (1 / BUSIEST_MS - 1 / QUIETEST_MS) / Math.log(QUIETEST_MS / BUSIEST_MS);
  return clients * perClient * 1_000;
};

export interface Run {
  clients: number;
  seed: number;
  scenario: Scenario;
}

/** One scenario; returns what was seen of each second. Nothing else may use timers or the page meanwhile. */
export const run = async ({ clients, seed, scenario }: Run): Promise<Second[]> => {
  const random = createDice(seed, 'fleet').next;
  const scheduler = createScheduler(LENGTH_MS);
  const { now, at } = scheduler;
  const server = createServer({
    scheduler,
    random,
    perSecond: HEADROOM * callsPerSecond(clients),
    troubleAt: TROUBLE_AT_MS,
    weather: scenario.weather,
  });
  const offlineBelow = clients * (scenario.offline ?? 0);
  const backAt = TROUBLE_AT_MS + scenario.troubleMs;
  const world: World = {
    now,
    random,
    after: (ms, job) => void at(now() + ms, job),
    send: (client, settle, signal) => {
      if (world.isOnline(client)) server.send(settle, signal);
      else at(now(), () => settle({ status: 0, retryAfterMs: 0 })); // it does not reach the server
    },
    isOnline: (client) => client >= offlineBelow || now() < TROUBLE_AT_MS || now() >= backAt,
    delivered: () => server.count(-1),
  };
  const pages: Client[] = [];

  const call = (client: number) => {
    at(now() + untilNext(random, callEvery(client)), client);
    const page = (pages[client] ??= createOutboxClient(client, world));
    if (random() < NAVIGATES) page.navigate();
    server.count(1);
    page.call();
  };

  for (let client = 0; client < clients; client++) {
    at(untilNext(random, callEvery(client)), client);
  }
  if (offlineBelow > 0) {
    at(backAt, () => {
      for (let client = 0; client < offlineBelow; client++) pages[client]?.online();
    });
  }
  const giveBack = replaceGlobals({ ...timersOf(scheduler), ...pageGlobals(random) });
  try {
    await scheduler.run(call, server.work);
  } finally {
    giveBack();
  }
  return server.seconds;
};
