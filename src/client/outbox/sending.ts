import { isSafe, type Context } from './context.js';
import type { Ends } from './ends.js';
import type { Entry } from './parcel.js';
import { moveRecord } from './states.js';
import type { Writer } from './writer.js';

/** What is about to be sent waits this long for the database to say so. */
const NAMING_MS = 100;

interface Parts {
  writer: Writer;
  ends: Ends;
}

/** What the outbox has to know of requests: before they start, as they start, and how they end. */
export const createSending = (context: Context, { writer, ends }: Parts) => {
  const { journal, limits, onUnknown } = context;
  /** About to be sent: what the last `prepare` has named. */
  const prepared = new Set<Entry>();

  /** Sent twice it would be stored twice. */
  const mustName = (): boolean => !limits().resends;

  /** Takes back what was about to be sent, but for these. */
  const withdraw = (keep: readonly Entry[] = []): void => {
    for (const entry of prepared) {
      if (keep.includes(entry)) continue;
      prepared.delete(entry);
      if (moveRecord(entry, 'withdraw')) void writer.touch(entry.parcel);
    }
  };

  return {
    withdraw,
    /** May this page send it now, as far as it can be told without a look at the database? */
    canSend: ({ parcel, state }: Entry): boolean => state !== 'naming' && isSafe(context, parcel),
    /**
     * Prepares the database for requests with these records, and no others: names them as in flight, where a
     * repeat would be stored twice, and holds their parcels for longer. Settles once that is stored, or takes
     * too long; nothing where there is nothing to wait for.
     */
    prepare: (entries: readonly Entry[]): Promise<unknown> | undefined => {
      withdraw(entries);
      if (journal.kind() === 'memory') return undefined;
      const named = mustName() ? entries.filter((entry) => moveRecord(entry, 'name')) : [];
      for (const entry of named) prepared.add(entry);
      const short = entries.filter(({ parcel }) => !isSafe(context, parcel));
      const touched = new Set([...named, ...short].map(({ parcel }) => parcel));
      if (touched.size === 0) return undefined;
      return Promise.race([
        Promise.all([...touched].map(writer.touch)),
        new Promise((resolve) => setTimeout(resolve, NAMING_MS)),
      ]).then(() => {
        for (const entry of named) moveRecord(entry, 'confirm');
      });
    },
    /** Its request has been started. */
    begin: (entry: Entry, outlivesPage: boolean): void => {
      const wasNamed = entry.state === 'naming' || entry.state === 'named';
      prepared.delete(entry);
      moveRecord(entry, outlivesPage ? 'send' : 'tie');
      entry.record.attempts++;
      // The database has it named and the request ends with the page, or the other way round.
      if (mustName() && wasNamed !== outlivesPage) void writer.touch(entry.parcel);
    },
    /** It has failed, and waits again. */
    putBack: (entry: Entry): void => {
      moveRecord(entry, 'fail');
      void writer.touch(entry.parcel);
    },
    /** The page was left while it was in flight: its answer will not come. */
    abandon: (entry: Entry): void => {
      const { parcel } = entry;
      if (parcel.state === 'gone') {
        // Whoever claims the parcel goes by what is stored, and so does this page.
        parcel.entries.delete(entry);
        parcel.leftBy = undefined;
        return;
      }
      if (limits().resends) return void moveRecord(entry, 'fail');
      ends.finish(entry);
      onUnknown(entry.record);
    },
  };
};
