import { shelf } from './browser/shelf.js';
import { wipe } from './outbox/denial.js';
import { createNotes } from './outbox/exit-note.js';
import { createJournal, type Admit } from './outbox/journal.js';
import { isUnderWay } from './outbox/states.js';
import { commit } from './outbox/transaction.js';
import { createHeld } from './held.js';
import { createParts, type Parts } from './parts.js';
import type { Context } from './context.js';
import type { OutboxRecord } from './types.js';

interface Effects {
  /** Looks into the database before anything else is done there. */
  admit: Admit;
  /** A record was given to the outbox. */
  onKept: (parts: Parts) => void;
}

/** Keeps records: in the outbox while storage and network may be used, in memory alone before. */
export const createKeeper = (context: Context, { admit, onKept }: Effects) => {
  const { name, settings, tally } = context;
  const { drop } = tally;
  /** Only while storage and network may be used. */
  let parts: Parts | undefined;
  /** False from a denial until what was stored before it has been deleted. */
  let isWiped = true;
  const held = createHeld(settings, (record) =>
    drop('outbox-full', 'more than maxRecords or maxBytes', record),
  );

  const keep = (record: OutboxRecord): void => {
    if (!parts) return held.add(record);
    parts.outbox.add(record);
    onKept(parts);
  };

  const end = (): Parts | undefined => {
    const ended = parts;
    parts = undefined;
    ended?.flusher.stop();
    return ended;
  };

  return {
    parts: (): Parts | undefined => parts,
    /** Records in memory alone. */
    held: held.count,
    keep,
    /** Storage and network may be used. */
    begin: (): Parts => {
      parts = createParts(context, admit);
      if (!isWiped) void wipe(parts, false).then((isDone) => (isWiped ||= isDone));
      held.take().forEach(keep);
      parts.flusher.pump();
      return parts;
    },
    /** Storage and network may not be used for now: what is stored stays there, and new records wait in memory. */
    putOff: (): void => {
      const { outbox, journal } = end() ?? {};
      if (!outbox || journal?.kind() === 'indexeddb') return outbox?.leave(true);
      // Once open, the database would store records that are held in memory from here on.
      journal?.close();
      for (const entry of [...outbox.entries()]) {
        if (isUnderWay(entry)) outbox.abandon(entry);
        if (entry.state !== 'done') held.add(entry.record);
      }
    },
    /** What is stored stays there for the next page. */
    stop: (): void => {
      const { outbox, journal } = end() ?? {};
      outbox?.leave(true);
      // Transactions run in order: when this one ends, the writes before it are done.
      journal
        ?.run<undefined>(commit)
        .catch(() => undefined)
        .finally(journal.close);
    },
    /** Consent was denied: drops all records in memory. */
    drop: (): void => {
      const ended = end();
      ended?.journal.close();
      for (const record of [...(ended?.outbox.clear() ?? []), ...held.take()]) {
        drop('consent-denied', 'consent was denied', record);
      }
    },
    /** Deletes what is stored, and stores the denial instead. */
    clear: async (onCleared: () => void): Promise<void> => {
      isWiped = false;
      const journal = createJournal({ name, onChange: () => undefined });
      if (await wipe({ journal, notes: createNotes(shelf, name) }, true)) {
        isWiped = true;
        onCleared();
      }
      journal.close();
    },
  };
};

export type Keeper = ReturnType<typeof createKeeper>;
