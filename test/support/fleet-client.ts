import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import { createPump } from '../../src/client/delivery/pump.js';
import { resolveOptions } from '../../src/client/options.js';
import type { Database } from '../../src/client/outbox/database.js';
import { entriesOf } from '../../src/client/outbox/memory.js';
import { createOutbox, keep, useDatabase } from '../../src/client/outbox/outbox.js';
import { createSchedule } from '../../src/client/schedule.js';
import type { Listeners } from '../../src/client/types.js';

/** What a client can do and see in the world. */
export interface World {
  now: () => number;
  /** One request of a client with one record, given up by its signal. Settles with the answer; status 0: refused. */
  send: (
    client: number,
    settle: (reply: { status: number; retryAfterMs: number }) => void,
    signal: AbortSignal,
  ) => void;
  /** Whether this client has a network. */
  isOnline: (client: number) => boolean;
  /** A record is stored. */
  delivered: () => void;
}

const ignore = () => undefined;

const SETTINGS = resolveOptions(
  { baseUrl: 'https://service.test', token: 'token', project: 'p', channel: 'c' },
  'https://site.test/',
  true,
);

/** A database that does not work, so that records are in memory: the server sees no difference. */
const NO_DATABASE: Database = {
  kind: () => 'memory',
  run: () => Promise.reject(new Error('no database')),
  leave: ignore,
  end: async () => undefined,
};

/** A `fetch` over the model's network. */
const createFetch = (client: number, { send }: World) =>
  ((_: unknown, { signal }: RequestInit) =>
    new Promise<unknown>((resolve, reject) => {
      send(
        client,
        ({ status, retryAfterMs }) => {
          if (status === 0) return reject(new TypeError('Failed to fetch'));
          const retryAfter = retryAfterMs > 0 ? String(Math.ceil(retryAfterMs / 1_000)) : null;
          resolve({ status, text: async () => '{}', headers: { get: () => retryAfter } });
        },
        signal!,
      );
    })) as typeof globalThis.fetch;

/** The real outbox and delivery. */
export const createFleetClient = (client: number, world: World) => {
  const { now } = world;
  const settings = { ...SETTINGS, fetch: createFetch(client, world) };
  const emit = (type: keyof Listeners, payload: object) => {
    if (type === 'outcome' && (payload as Listeners['outcome']).outcome === 'delivered') {
      world.delivered();
    }
  };
  const outbox = createOutbox({
    name: `client ${client}`,
    settings: () => settings,
    now,
    emit,
    drop: world.delivered, // it waits no more
    onRestart: ignore,
  });
  let pump: ReturnType<typeof createPump>;
  let schedule: () => void;
  let made = 0;

  const open = () => {
    const own = (pump = createPump(outbox, createDirectSend));
    [schedule] = createSchedule(
      () => settings,
      () => own === pump && own.flushAll(), // the timers of a page end with it
      ignore,
    );
    // What a page before this one has left is sent without waiting for a flush.
    for (const entry of entriesOf(outbox)) entry.order = 0;
    pump.pump();
  };

  useDatabase(outbox, NO_DATABASE);
  open();
  return {
    call: () => {
      keep(outbox, { id: String(++made), type: 'event', body: '', at: now(), attempts: 0 });
      schedule();
    },
    navigate: () => {
      Object.assign(navigator, { onLine: world.isOnline(client) });
      pump.handOff();
      // What is in flight is left to the page that will hear of it.
      if ([...entriesOf(outbox)].some(({ isSent }) => isSent)) return;
      pump.halt();
      open();
    },
    online: () => pump.online(),
  };
};
