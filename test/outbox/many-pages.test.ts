import { expect, it, vi } from 'vitest';
import { nextInLine } from '../../src/delivery/lanes.js';
import type { Entry } from '../../src/outbox/entry.js';
import { LEASE_MS } from '../../src/outbox/lease.js';
import { advance } from '../support/advance.js';
import { abortTransactions, closeConnection } from '../support/break-storage.js';
import { createPage, LIMITS, type Page } from '../support/create-page.js';
import { makeRecord } from '../support/make-record.js';
import { settle } from '../support/settle.js';
import { storageEach } from '../support/storage-each.js';
import { readStored } from '../support/stored.js';

const world = storageEach();
const SEEDS = Number(process.env.SEEDS || 40);
const STEPS = 60;

/** Numbers that look random and are the same for a seed: mulberry32. */
const randomOf = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

interface Actor {
  page: Page;
  state: 'shown' | 'frozen' | 'left' | 'dead';
  /** Requests under way, each with whether it outlives the page, and when it is timed out. */
  open: Map<Entry, { outlivesPage: boolean; until: number }>;
}

interface Choices {
  /** Storage fails now and then. */
  failures?: boolean;
  /** Records go in batches, through a relay that knows their ids; answers of it get lost. */
  relayed?: boolean;
}

/** Records in a batch. */
const BATCH = 4;

/** Pages that come and go at random, over one outbox and one service. */
const play = async (seed: number, { failures = false, relayed = false }: Choices) => {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const log: string[] = [];
  const actors: Actor[] = [];
  const made: string[] = [];
  /** What the service has, in the order it came. */
  const stored: string[] = [];
  let repeats = 0;

  const arrive = (id: string) => {
    if (relayed && stored.includes(id)) repeats++;
    else stored.push(id);
  };

  const open = (): Actor => {
    const actor: Actor = {
      page: createPage(world.shelf, { resends: relayed }),
      state: 'shown',
      open: new Map(),
    };
    actors.push(actor);
    log.push(`open ${actor.page.name}`);
    return actor;
  };
  const those = (...states: Actor['state'][]) =>
    actors.filter(({ state }) => states.includes(state));

  const send = async ({ page, open: requests }: Actor) => {
    await page.refill();
    const batch = nextInLine(page.outbox.entries, {
      now: Date.now(),
      limit: 1,
      horizon: Infinity,
      hasUnread: page.outbox.hasUnread(),
      fits: ({ length }) => relayed && length < BATCH,
    }).flat();
    const stale = batch.find((entry) => !page.outbox.canSend(entry));
    if (stale) return page.outbox.renew(stale.hold);
    const outlivesPage = random() < 0.8;
    for (const entry of batch) {
      log.push(`${page.name} sends ${entry.record.id}${outlivesPage ? '' : ' (plain)'}`);
      page.outbox.begin(entry, outlivesPage);
      requests.set(entry, { outlivesPage, until: Date.now() + LIMITS.timeout });
      if (outlivesPage) arrive(entry.record.id);
    }
  };

  const answer = ({ page, open: requests }: Actor, entry = pick([...requests.keys()])) => {
    if (!entry) return;
    const { outlivesPage } = requests.get(entry)!;
    requests.delete(entry);
    if (relayed && random() < 0.2) {
      if (!outlivesPage) arrive(entry.record.id);
      page.outbox.putBack(entry, false);
      log.push(`${page.name} hears nothing of ${entry.record.id}`);
    } else if (outlivesPage || random() < 0.5) {
      if (!outlivesPage) arrive(entry.record.id);
      page.outbox.finish(entry);
      log.push(`${page.name} hears that ${entry.record.id} is delivered`);
    } else {
      const isAnswered = random() < 0.5;
      page.outbox.putBack(entry, isAnswered);
      log.push(`${page.name} hears that ${entry.record.id} failed (answered: ${isAnswered})`);
    }
  };

  /** Time goes by, and no request lasts longer than its timeout. */
  const wait = async (ms: number) => {
    for (const actor of those('shown', 'left')) {
      for (const [entry, { until }] of actor.open) {
        if (until <= Date.now() + ms) answer(actor, entry);
      }
    }
    await advance(ms);
  };

  /** Plain requests end with the page, without an answer. */
  const die = (actor: Actor) => {
    actor.page.kill();
    actor.state = 'dead';
    actor.open.clear();
  };

  const add = (page: Page) => {
    const id = `r${made.length}`;
    made.push(id);
    const user = pick([undefined, 'u', 'v']);
    const isIdentify = user && random() < 0.4;
    page.add(makeRecord(id, { type: isIdentify ? 'identify' : 'event', ...(user && { user }) }));
    log.push(`${page.name} adds ${id}`);
  };

  /** Until storage that failed was tried again. */
  const heal = async () => {
    vi.restoreAllMocks();
    await wait(7_000);
  };

  const steps: Record<string, [weight: number, step: () => unknown]> = {
    add: [
      8,
      () => {
        const { page } = pick(those('shown')) ?? open();
        for (let i = Math.ceil(random() * 3); i > 0; i--) add(page);
      },
    ],
    send: [10, async () => pick(those('shown')) && send(pick(those('shown'))!)],
    answer: [8, () => pick(those('shown')) && answer(pick(those('shown'))!)],
    settle: [6, () => settle(Math.ceil(random() * 12))],
    wait: [3, () => wait(pick([20, 100, 1_000, 20_000])!)],
    waitLong: [
      1,
      async () => {
        log.push('a lease goes by');
        await wait(LEASE_MS + 1_000);
        for (const { page } of those('shown')) page.outbox.seek();
      },
    ],
    open: [1, open],
    fail: [
      failures ? 1 : 0,
      () => {
        const fails = pick([abortTransactions, closeConnection])!;
        log.push(`storage fails (${fails.name})`);
        fails();
      },
    ],
    heal: [failures ? 1 : 0, heal],
    hide: [2, () => pick(those('shown'))?.page.outbox.leave(false)],
    leave: [
      2,
      async () => {
        const actor = pick(those('shown'));
        if (!actor) return;
        let way = pick(['kept', 'kept', 'note only', 'outbox only'])!;
        if (actor.page.journal.kind() !== 'indexeddb') way = 'kept';
        if (way === 'outbox only') vi.restoreAllMocks();
        log.push(`${actor.page.name} leaves (${way})`);
        await settle();
        if (way === 'note only') actor.page.dropWrites();
        const before = new Set(world.shelf.keys());
        actor.page.outbox.leave(true);
        for (const [entry, { outlivesPage }] of actor.open) {
          if (outlivesPage) continue;
          actor.open.delete(entry);
          actor.page.outbox.abandon(entry);
        }
        actor.state = 'left';
        if (way === 'kept' && random() < 0.5) return;
        await settle(way === 'outbox only' ? 60 : 0);
        die(actor);
        if (way !== 'outbox only') return;
        for (const key of world.shelf.keys()) if (!before.has(key)) world.shelf.values.delete(key);
      },
    ],
    comeBack: [
      2,
      () => {
        const actor = pick(those('left'));
        if (!actor) return;
        actor.state = 'shown';
        actor.page.outbox.comeBack();
        log.push(`${actor.page.name} comes back`);
      },
    ],
    freeze: [
      1,
      async () => {
        if (failures) await heal();
        const actor = pick(those('shown'));
        if (!actor || (failures && actor.page.journal.kind() !== 'indexeddb')) return;
        for (const [entry, { outlivesPage }] of actor.open) {
          if (outlivesPage) continue;
          actor.open.delete(entry);
          actor.page.outbox.putBack(entry, false);
        }
        await wait(100); // no timer of a frozen page fires
        if (actor.page.journal.kind() === 'indexeddb' && random() < 0.5) {
          add(actor.page);
          await settle(Math.floor(random() * 4));
        }
        actor.page.freeze();
        actor.state = 'frozen';
        log.push(`${actor.page.name} freezes`);
      },
    ],
    thaw: [
      1,
      () => {
        const actor = pick(those('frozen'));
        if (!actor) return;
        actor.state = 'shown';
        actor.page.thaw();
        actor.page.outbox.seek();
        log.push(`${actor.page.name} thaws`);
      },
    ],
    kill: [
      1,
      async () => {
        await settle(); // what is not written yet is lost with the process
        await wait(100); // so is the deletion of what was delivered just now
        const actor = pick(those('shown', 'frozen', 'left'));
        if (!actor || actor.page.outbox.entries.some(({ saved }) => saved !== 'yes')) return;
        log.push(`${actor.page.name} is killed`);
        die(actor);
      },
    ],
  };
  const bag = Object.values(steps).flatMap(
    ([weight, step]) => Array(weight).fill(step) as (typeof step)[],
  );

  open();
  for (let i = 0; i < STEPS; i++) await pick(bag)!();

  await settle();
  vi.restoreAllMocks();
  for (const actor of those('frozen')) {
    actor.page.thaw();
    actor.state = 'shown';
  }
  for (const actor of those('left', 'shown')) {
    while (actor.open.size > 0) answer(actor);
    await settle();
    actor.page.outbox.leave(true);
    await settle();
    die(actor);
  }
  await advance(3 * LEASE_MS);
  for (const { page } of actors) {
    if (page.unknown.length > 0) log.push(`unknown to ${page.name}: ${page.unknown.join(' ')}`);
  }
  const last = open();
  const rest = await last.page.drain();
  log.push(`${last.page.name} sends ${rest.join(' ')}`);
  rest.forEach(arrive);
  await advance(1_000);

  const unknown = actors.flatMap(({ page }) => page.unknown);
  const drops = actors.flatMap(({ page }) => page.drops);
  return { log, made, stored, repeats, unknown, drops };
};

const repeated = (list: string[]) => list.filter((id, i) => list.indexOf(id) !== i);

const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);

it.each(seeds)('loses and repeats nothing, whatever the pages do (seed %i)', async (seed) => {
  const { log, made, stored, unknown, drops } = await play(seed, {});
  const story = log.join('\n');
  expect(repeated(stored), story).toEqual([]);
  expect(repeated(unknown), story).toEqual([]);
  expect(drops, story).toEqual([]);
  expect(
    made.filter((id) => !stored.includes(id)),
    story,
  ).toEqual([]);
  const { ids, leases } = await readStored();
  expect(ids, story).toEqual([]);
  expect(
    leases.filter(({ holder }) => holder),
    story,
  ).toEqual([]);
  expect(world.shelf.keys(), story).toEqual([]);
});

it.each(seeds)('loses and repeats nothing though storage fails (seed %i)', async (seed) => {
  const { log, made, stored, drops } = await play(seed, { failures: true });
  const story = log.join('\n');
  expect(repeated(stored), story).toEqual([]);
  expect(drops, story).toEqual([]);
  expect(
    made.filter((id) => !stored.includes(id)),
    story,
  ).toEqual([]);
});

it.each(seeds)('loses nothing to a relay, and is left with nothing (seed %i)', async (seed) => {
  const { log, made, stored, repeats, unknown, drops } = await play(seed, { relayed: true });
  const story = log.join('\n');
  expect([...stored].sort(), story).toEqual([...made].sort());
  expect(repeats, story).toBeGreaterThan(0); // or nothing was tried
  expect(unknown, story).toEqual([]);
  expect(drops, story).toEqual([]);
  const { ids, leases } = await readStored();
  expect(ids, story).toEqual([]);
  expect(
    leases.filter(({ holder }) => holder),
    story,
  ).toEqual([]);
  expect(world.shelf.keys(), story).toEqual([]);
});

it.each(seeds)('loses nothing to a relay though storage fails (seed %i)', async (seed) => {
  const choices = { relayed: true, failures: true };
  const { log, made, stored, unknown, drops } = await play(seed, choices);
  const story = log.join('\n');
  expect([...stored].sort(), story).toEqual([...made].sort());
  expect(unknown, story).toEqual([]);
  expect(drops, story).toEqual([]);
});
