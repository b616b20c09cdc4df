import type { Outage, Store } from '../store/port.js';

/** Where a process notes the outages that are not in the database yet, so that they outlive it. */
export interface OutageNote {
  read: () => string | undefined;
  /** It may fail without a word: the disk may be gone. */
  write: (text: string) => void;
}

interface Parts {
  store: Pick<Store, 'addOutage'>;
  note?: OutageNote | undefined;
  name: string;
}

/** While the database fails again and again, the latest are kept. The words are cut. */
const [MAX_KEPT, MAX_WORDS] = [8, 200];

/** `isOver`: rows were stored after it. */
type Kept = Omit<Outage, 'to'> & { to?: string; isOver?: true };

const readNote = (text: string | undefined): Kept[] => {
  try {
    return text?.trim() ? (JSON.parse(text) as Kept[]) : [];
  } catch {
    return []; // a process was killed as it wrote
  }
};

/** Knows the times in which no rows were stored. The database has them as soon as it stores rows again. */
export const createOutages = ({ store, note, name }: Parts) => {
  let kept = readNote(note?.read());
  let adding: Promise<void> | undefined;

  const iso = (ms: number): string => new Date(ms).toISOString();
  /** One of a process that was killed goes on: it has stored nothing meanwhile. */
  const open = (): Kept | undefined => (kept.at(-1)?.isOver ? undefined : kept.at(-1));
  const keep = (all: Kept[]): void => {
    kept = all.slice(-MAX_KEPT);
    note?.write(kept.length ? JSON.stringify(kept) : '');
  };
  const addAll = async (at: number): Promise<void> => {
    const over = kept.map(({ to = iso(at), ...one }) => ({ ...one, to, isOver: true as const }));
    keep(over);
    for (const { isOver: _, ...one } of over) await store.addOutage(one);
    // Another one may have begun meanwhile.
    keep(kept.filter((one) => !over.includes(one as (typeof over)[number])));
  };

  return {
    /** Since when no rows are stored. */
    since: (): string | undefined => open()?.from,
    /** Records that arrived at this time could not be stored. */
    began: (at: number, problem: string): void => {
      const last = open();
      const begun = { from: iso(at), process: name, problem: problem.slice(0, MAX_WORDS) };
      if (!last) return keep([...kept, begun]);
      // No rows were stored since.
      delete last.to;
      keep(kept);
    },
    /** Rows could be stored again, as far as that is known. */
    ended: (at: number): void => {
      const last = open();
      if (!last || last.to) return;
      last.to = iso(at);
      keep(kept);
    },
    /** Rows were stored that arrived at this time. */
    stored: (at: number): void => {
      if (!kept.length || adding) return;
      adding = addAll(at)
        .catch(() => {}) // they are added with the next rows
        .finally(() => (adding = undefined));
    },
    settled: async (): Promise<void> => adding,
  };
};

export type Outages = ReturnType<typeof createOutages>;
