import { DEFAULTS } from '../../src/client/config/options.js';
import { createDirectSender } from '../../src/client/delivery/direct-sender.js';
import { createFlusher, type Flusher } from '../../src/client/delivery/flusher.js';
import { createGate } from '../../src/client/delivery/gate.js';
import type { Sender } from '../../src/client/delivery/sender.js';
import { createLine } from '../../src/client/outbox/line.js';
import type { Outbox } from '../../src/client/outbox/outbox.js';
import { createEntry, createParcel, type Entry } from '../../src/client/outbox/parcel.js';
import { moveRecord } from '../../src/client/outbox/states.js';
import type { OutboxRecord } from '../../src/client/types.js';
import type { CreateClient, World } from './clients.js';

const ignore = () => undefined;

/** An outbox in memory: how records are stored makes no difference to the server. */
const createMemory = (world: World, left: readonly OutboxRecord[]) => {
  const line = createLine();
  const parcel = createParcel([0, 'page', 0]);
  line.insert(parcel);
  let order = 0;
  const add = (record: OutboxRecord, isCall: boolean) => {
    line.add(createEntry(record, parcel, isCall ? ++order : 0));
    const { maxRecords, maxBytes } = DEFAULTS;
    if (line.count() > maxRecords || line.bytes() > maxBytes) remove(line.surplus()!);
  };
  const remove = (entry: Entry) => {
    line.take(entry);
    moveRecord(entry, 'finish');
    world.delivered();
  };
  for (const record of left) add(record, false);
  const outbox: Partial<Outbox> = {
    entries: line.entries,
    young: line.entries,
    count: line.count,
    latest: () => order,
    wantsMore: () => false,
    mustWait: () => false,
    canSend: () => true,
    tidy: () => undefined,
    prepare: () => undefined,
    begin: (entry) => {
      moveRecord(entry, 'send');
      entry.record.attempts++;
    },
    putBack: (entry) => void moveRecord(entry, 'fail'),
    abandon: ignore,
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
    settings: () => ({
      baseUrl: 'https://service.test',
      token: 'token',
      timeout,
      fetch: fetch as typeof globalThis.fetch,
    }),
    now,
    watchDeparture: () => async () => false,
    isGoing: () => false,
  });
};

/** The real delivery code, over an outbox in memory. */
export const createOutboxClient: CreateClient = (client, world) => {
  const { now, random, shelf } = world;
  const sender = createSender(client, world);
  let memory: ReturnType<typeof createMemory>;
  let flusher: Flusher;
  let fresh = 0;
  let isWaiting = false;
  let page = 0;
  let made = 0;
  let mayRun = true;

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
      mayRun: () => mayRun,
      concurrency: () => DEFAULTS.concurrency,
      isOwnOrigin: false,
      now,
      random,
      isOnline: () => world.isOnline(client),
      isHidden: () => false,
      knowsRepeats: () => false,
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
      memory.add({ id: String(++made), type: 'event', body: '', at: now(), attempts: 0 }, true);
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
      mayRun = false;
      flusher.halt();
      mayRun = true;
      open([...memory.outbox.entries()].map(({ record }) => record));
      flusher.pump();
    },
    online: () => flusher.resume(),
  };
};
