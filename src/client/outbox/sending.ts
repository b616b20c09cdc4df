import { isSafe, type Context } from './context.js';
import type { Ends } from './ends.js';
import type { Entry } from './parcel.js';
import { moveRecord } from './states.js';
import type { Writer } from './writer.js';

/** A request waits this long, at most, for the write that names its records as in flight. */
const NAMING_MS = 100;

/** What the outbox does as requests are prepared, begin and fail. */
export const createSending = (context: Context, ends: Ends, writer: Writer) => {
  const { journal, limits, onUnknown } = context;
  /** The records that the last `prepare` named, and that have not been sent since. */
  const prepared = new Set<Entry>();

  /** Whether the service stores a repeat as another record. */
  const mustName = (): boolean => !limits().resends;

  /** Takes back the names of records that were about to be sent, except these. */
  const withdraw = (keep: readonly Entry[] = []): void => {
    for (const entry of prepared) {
      if (keep.includes(entry)) continue;
      prepared.delete(entry);
      if (moveRecord(entry, 'withdraw')) void writer.write(entry.parcel);
    }
  };

  return {
    withdraw,
    /** Whether this page may send the record now, as far as it knows without a look at the database. */
    canSend: ({ parcel, state }: Entry): boolean => state !== 'naming' && isSafe(context, parcel),
    /**
     * Prepares the database for requests with these records and no others: names them as in flight, unless the
     * receiver knows repeats, and extends the hold of parcels that need it. Settles when that is stored, or after
     * 100 ms. Undefined if there is nothing to wait for.
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
        Promise.all([...touched].map(writer.write)),
        new Promise((resolve) => setTimeout(resolve, NAMING_MS)),
      ]).then(() => {
        for (const entry of named) moveRecord(entry, 'confirm');
      });
    },
    /** The record's request is being started. */
    begin: (entry: Entry, outlivesPage: boolean): void => {
      const wasNamed = entry.state === 'naming' || entry.state === 'named';
      prepared.delete(entry);
      moveRecord(entry, outlivesPage ? 'send' : 'tie');
      entry.record.attempts++;
      // The database must name a record whose request outlives the page, and no other.
      if (mustName() && wasNamed !== outlivesPage) void writer.write(entry.parcel);
    },
    /** The request has failed, and the record waits again. */
    putBack: (entry: Entry): void => {
      moveRecord(entry, 'fail');
      void writer.write(entry.parcel);
    },
    /** The record was in flight when the page was left, and its answer will not come. */
    abandon: (entry: Entry): void => {
      const { parcel } = entry;
      if (parcel.state === 'gone') {
        // If this page claims the parcel again, it goes by what is stored, as any other page does.
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
