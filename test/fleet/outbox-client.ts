import { DEFAULTS } from '../../src/config/options.js';
import { createDirectSender } from '../../src/delivery/direct-sender.js';
import { createFlusher, type Flusher } from '../../src/delivery/flusher.js';
import { createGate } from '../../src/delivery/gate.js';
import type { Sender } from '../../src/delivery/sender.js';
import { createEntry, createHold, type Entry } from '../../src/outbox/entry.js';
import type { Outbox } from '../../src/outbox/outbox.js';
import { createQueue } from '../../src/outbox/queue.js';
import type { OutboxRecord } from '../../src/types.js';
import type { CreateClient, World } from './clients.js';

/** A page's outbox in memory: what storage adds to it is no matter of the server's. */
const createMemory = (world: World, left: readonly OutboxRecord[]) => {
  const queue = createQueue();
  const hold = createHold('page', 0, true);
  const { entries } = queue;
  const add = (record: OutboxRecord, isCall: boolean) => {
    queue.push(createEntry(record, hold, ++hold.seq), isCall);
    const surplus = queue.surplus(DEFAULTS);
    if (surplus) remove(surplus);
  };
  const remove = (entry: Entry) => {
    queue.take(entry);
    entry.state = 'done';
    world.delivered();
  };
  for (const record of left) add(record, false);
  const outbox: Partial<Outbox> = {
    entries,
    latest: queue.latest,
    wantsMore: () => false,
    hasUnread: () => false,
    isOld: () => false,
    canSend: () => true,
    isAnnounced: () => true,
    announce: () => undefined,
    begin: (entry) => {
      entry.state = 'flight';
      entry.record.attempts++;
    },
    putBack: (entry) => {
      entry.state = 'waiting';
    },
    finish: remove,
  };
  return { outbox: outbox as Outbox, add };
};

/** The direct sender, over the model's network. */
const createSender = (client: number, { send, now }: World): Sender => {
  const fetch = (_: unknown, { signal }: RequestInit) =>
    new Promise((resolve, reject) => {
      send(
        client,
        ({ status, retryAfterMs }) => {
          if (status === 0) return reject(new TypeError('Failed to fetch'));
          const retryAfter = retryAfterMs > 0 ? String(Math.ceil(retryAfterMs / 1_000)) : null;
          resolve({ status, text: async () => '{}', headers: { get: () => retryAfter } });
        },
        signal!,
      );
    });
  const { timeout } = DEFAULTS;
  return createDirectSender({
    settings: () => ({ baseUrl: 'https://service.test', token: 'token', timeout }),
    fetch: fetch as typeof globalThis.fetch,
    now,
    watchDeparture: () => async () => false,
    isGoing: () => false,
  });
};

const ignore = () => undefined;

/** The product: its own delivery, above an outbox in memory. */
export const createOutboxClient: CreateClient = (client, world) => {
  const { now, random, shelf } = world;
  const sender = createSender(client, world);
  let memory: ReturnType<typeof createMemory>;
  let flusher: Flusher;
  let fresh = 0;
  let isWaiting = false;
  let page = 0;

  const open = (left: readonly OutboxRecord[]) => {
    memory = createMemory(world, left);
    flusher = createFlusher({
      outbox: memory.outbox,
      sender,
      gate: createGate({
        load: () => shelf[client],
        save: (value) => {
          shelf[client] = value;
          return true;
        },
        now,
        random,
      }),
      concurrency: () => DEFAULTS.concurrency,
      isOwnOrigin: () => false,
      now,
      random,
      isOnline: () => world.isOnline(client),
      isHidden: () => false,
      onSent: ignore,
      onOutcome: ignore,
      onError: ignore,
    });
    fresh = 0;
    isWaiting = false;
    page++;
  };
  const flush = () => {
    fresh = 0;
    isWaiting = false;
    flusher.flushAll();
  };

  open([]);
  return {
    call: () => {
      memory.add({ id: '', type: 'event', body: '', at: now(), attempts: 0 }, true);
      if (++fresh >= DEFAULTS.flushAt) return flush();
      if (isWaiting) return;
      isWaiting = true;
      const current = page;
      world.after(DEFAULTS.flushInterval, () => {
        if (page === current && isWaiting) flush();
      });
    },
    navigate: () => {
      flusher.handOff();
      // What is in flight is left to the page that will hear of it.
      if (flusher.inFlight() > 0) return;
      flusher.stop();
      open(memory.outbox.entries.map(({ record }) => record));
      flusher.pump();
    },
    online: () => flusher.resume(),
  };
};
