import { holdMs, isOver, type Context } from './context.js';
import { commit } from './journal.js';
import { idOf, inState, type Parcel } from './parcel.js';
import { moveParcel } from './states.js';
import { putStored, storedOf, type Stored } from './stored.js';

/** Records that have come to their end wait this long to be deleted together. */
const DELETE_MS = 50;

interface Write {
  parcel: Parcel;
  /** What is to stand under its key; nothing once all its records have come to their end. */
  value: Omit<Stored, 'v' | 'until'> | undefined;
  /** Those of its records that the database need not be told of any more once this is stored. */
  done: string[];
}

interface Parts {
  part: (parcel: Parcel) => void;
  keepNote: () => void;
}

/** Writes through to the database what has changed in memory, a task's changes in one transaction. */
export const createWriter = (context: Context, { part, keepNote }: Parts) => {
  const { journal, notes, now, limits, known, holder } = context;
  /** To be written. */
  const dirty = new Set<Parcel>();
  /** Being written. */
  const pending = new Set<Parcel>();
  let scheduled: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let noteTimer: ReturnType<typeof setTimeout> | undefined;

  const flightOf = (parcel: Parcel) =>
    limits().resends ? [] : inState(parcel, 'naming', 'named', 'flight').map(idOf);

  const writeOf = (parcel: Parcel): Write => ({
    parcel,
    value:
      parcel.entries.size > 0 || parcel.isNoted
        ? storedOf(parcel, holder(), flightOf(parcel))
        : undefined,
    done: [...parcel.done],
  });

  /** A page that leaves lets the parcels go as it writes them. */
  const write = async (parcels: Parcel[], isLeaving = false): Promise<void> => {
    const life = holder();
    const writes = parcels.map(writeOf);
    let until = 0;
    for (const parcel of parcels) {
      dirty.delete(parcel);
      pending.add(parcel);
    }
    /** Looked at as the transaction begins: the page may have stood still since. */
    const mayWrite = ({ parcel: { state, until } }: Write) =>
      isLeaving || (state !== 'gone' && !(state === 'stored' && isOver(context, until)));
    const put = (store: IDBObjectStore, { parcel, value }: Write) => {
      moveParcel(parcel, 'write');
      if (value) putStored(store, parcel.key, { ...value, until });
      else store.delete(parcel.key);
    };
    const conclude = ({ parcel, value, done }: Write) => {
      if (parcel.state === 'gone') return;
      moveParcel(parcel, 'confirm');
      parcel.until = until;
      // From now on the database says it.
      for (const { record } of parcel.entries) known.delete(record.id);
      for (const id of done) parcel.done.delete(id);
      if (!value?.records.length) part(parcel);
    };
    try {
      await journal.run<undefined>((store) => {
        if (!isLeaving) until = now() + holdMs(context);
        store.transaction.addEventListener('abort', () => {
          for (const parcel of parcels) moveParcel(parcel, 'abort');
        });
        for (const one of writes) {
          if (mayWrite(one)) put(store, one);
          else part(one.parcel);
        }
        commit(store);
      });
      for (const parcel of parcels) pending.delete(parcel);
      writes.forEach(conclude);
      if (life === holder() && !journal.isLeft() && dirty.size + pending.size === 0) {
        notes.remove(life);
      }
    } catch {
      // The page works from memory now: a note says what has changed. Once storage works again, all is written.
      for (const parcel of parcels) pending.delete(parcel);
      void flush();
    }
  };

  const flush = (): Promise<void> =>
    (scheduled ??= Promise.resolve().then(() => {
      scheduled = undefined;
      clearTimeout(timer);
      timer = undefined;
      if (journal.kind() === 'memory') return touchNote();
      return dirty.size > 0 ? write([...dirty]) : undefined;
    }));

  /** While the database fails, a note takes its place. */
  const touchNote = () => {
    noteTimer ??= setTimeout(() => {
      noteTimer = undefined;
      if (journal.kind() === 'memory') keepNote();
    }, DELETE_MS);
  };

  return {
    /** It has to be written, with all else that changes in this task. Settles when that is done. */
    touch: (parcel: Parcel): Promise<void> => {
      if (parcel.state !== 'gone') dirty.add(parcel);
      return flush();
    },
    /** A record of it has come to its end: it is written with the next change, or a little later. */
    finished: (parcel: Parcel): void => {
      if (parcel.state !== 'gone') dirty.add(parcel);
      timer ??= setTimeout(flush, DELETE_MS);
    },
    flush,
    /** Lets parcels go, as the page does. */
    release: (parcels: Parcel[]): void => {
      if (parcels.length > 0) void write(parcels, true);
    },
    /** What the database does not know yet. */
    unconfirmed: (): Set<Parcel> => new Set([...dirty, ...pending]),
    forget: (parcel: Parcel): void => {
      dirty.delete(parcel);
    },
  };
};

export type Writer = ReturnType<typeof createWriter>;
