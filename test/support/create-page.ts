import { createJournal, type Journal } from '../../src/client/outbox/journal.js';
import { createNotes, type Shelf } from '../../src/client/outbox/exit-note.js';
import { createOutbox } from '../../src/client/outbox/outbox.js';
import type { Entry } from '../../src/client/outbox/parcel.js';
import { isUnderWay } from '../../src/client/outbox/states.js';
import type { DropReason, OutboxRecord, StorageKind } from '../../src/client/types.js';

export const DATABASE = 'analytics-outbox test';

export const LIMITS = {
  maxRecords: 10_000,
  maxBytes: 5_000_000,
  maxAge: 604_800_000,
  timeout: 30_000,
  resends: false,
};

let pages = 0;

/** One page's outbox, with its own journal over the database that all pages share. */
export const createPage = (
  shelf: Shelf,
  limits: Partial<typeof LIMITS> = {},
  onChange: () => void = () => undefined,
) => {
  const drops: { id: string; reason: DropReason }[] = [];
  const unknown: string[] = [];
  const storage: StorageKind[] = [];
  const page = `page${++pages}`;
  let ids = 0;
  let isHidden = false;
  const inner = createJournal({
    name: DATABASE,
    onChange: (kind) => {
      storage.push(kind);
      if (kind === 'indexeddb') outbox.rewrite();
      onChange();
    },
  });
  inner.open();
  let power: 'on' | 'frozen' | 'cut' = 'on';
  let isDropping = false;
  let thaw: () => void = () => undefined;
  let thawed = Promise.resolve();
  /** A frozen page goes on later; a killed one does not. */
  const alive = async (): Promise<void> => {
    while (power === 'frozen') await thawed;
    if (power === 'cut') await new Promise(() => undefined);
  };
  const journal: Journal = {
    ...inner,
    run: async (work) => {
      if (isDropping) await new Promise(() => undefined);
      if (power !== 'on') await alive();
      return inner.run(work).finally(alive);
    },
  };
  const notes = createNotes(
    { ...shelf, set: (key, value) => power === 'on' && shelf.set(key, value) },
    DATABASE,
  );
  const outbox = createOutbox({
    journal,
    notes,
    now: Date.now,
    newId: () => (ids++ === 0 ? page : `${page}-${ids - 1}`),
    isHidden: () => isHidden,
    limits: () => ({ ...LIMITS, ...limits }),
    onDrop: ({ id }, reason) => drops.push({ id, reason }),
    onUnknown: ({ id }) => unknown.push(id),
  });

  const refill = async (starving = false) => {
    for (let round = 0; await outbox.refill(starving); round++) {
      if (round > 500) throw new Error('refill never ends');
    }
  };
  const entries = () => [...outbox.entries()];
  const waiting = () => entries().filter((entry) => !isUnderWay(entry));
  const find = (id: string): Entry => entries().find(({ record }) => record.id === id)!;
  const begin = (id: string, outlivesPage = true): Entry => {
    const entry = find(id);
    outbox.begin(entry, outlivesPage);
    return entry;
  };
  /** Sends what this page may send until nothing is left, as the flusher would; answers with the ids. */
  const drain = async (): Promise<string[]> => {
    const sent: string[] = [];
    for (let renewals = 0; ;) {
      await refill();
      const entry = waiting()[0];
      if (!entry) return sent;
      if (!outbox.canSend(entry)) {
        if (++renewals > 50) throw new Error('preparing never ends');
        await outbox.prepare([entry]);
        if (outbox.count() > 0 && renewals % 5 === 0) outbox.look();
      } else {
        sent.push(entry.record.id);
        outbox.begin(entry, true);
        outbox.finish(entry);
      }
    }
  };
  return {
    name: page,
    journal,
    notes,
    outbox,
    drops,
    unknown,
    storage,
    refill,
    find,
    begin,
    drain,
    kill: () => {
      power = 'cut';
      thaw();
    },
    /** From here on nothing it writes into the database arrives. */
    dropWrites: () => {
      isDropping = true;
    },
    freeze: () => {
      power = 'frozen';
      thawed = new Promise((resolve) => (thaw = resolve));
    },
    thaw: () => {
      power = 'on';
      thaw();
    },
    add: (...records: OutboxRecord[]) => records.forEach((record) => outbox.add(record)),
    /** Hidden, and not going yet: `show` brings it back. */
    hide: () => {
      isHidden = true;
      outbox.leave(false);
    },
    show: () => {
      isHidden = false;
    },
    waiting: () => waiting().map(({ record }) => record.id),
  };
};

export type Page = ReturnType<typeof createPage>;
