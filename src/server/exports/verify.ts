import type { Row, Store } from '../store/port.js';
import type { PlaceSpan, TargetLock } from '../store/progress.js';
import { pagesBehind } from './export.js';
import type { Target } from './target.js';

/** Rows are counted in blocks of this many places. */
const BLOCK = 10_000;
/** Blocks that are counted at a time. */
const BLOCKS = 100;

/** What a comparison of both sides has found. */
export interface Verified {
  /** The places that were compared: from the lowest one in the store up to the place of the target. */
  from: number;
  to: number;
  /** Rows in the database, and rows of the target that are in the database as well. */
  stored: number;
  exported: number;
  /** Rows that were missing in the target, and that it has now. */
  filled: number;
  /** Rows that are missing in files. Files are never changed. */
  missing: number;
  /** Rows that the target still refuses. */
  dead: number;
  /** Rows of the target that the database has no more: they expired, or were erased. */
  gone: number;
  /** Rows that the target has more than once, by the first place of their block. */
  twice: { from: number; rows: number }[];
}

interface Parts {
  store: Pick<Store, 'rows' | 'progress'>;
  target: Target;
  /** Called after each step, with the place that it has come to. */
  onProgress?: (place: number) => void;
}

/**
 * Compares the rows of a target with those of the store, up to the place of the target. Rows that are missing there are
 * written again, also those that it has refused. While that goes on, this process has the target.
 */
export const verify = async ({ store, target, onProgress }: Parts): Promise<Verified> => {
  const { progress } = store;
  const { name } = target;
  const state = (await progress.targets()).find((one) => one.name === name);
  if (!state) throw new Error(`nothing was exported to ${name} yet`);
  const { id: source, since } = await progress.source();
  const [first] = await store.rows({}, { limit: 1 });
  // Rows up to `since` have another source there.
  const from = Math.max(first?.seq ?? state.place + 1, since + 1);
  const to = state.place + 1;
  const found: Verified = {
    ...{ from, to, stored: 0, exported: 0, filled: 0, missing: 0, dead: 0, gone: 0, twice: [] },
  };
  let lock: TargetLock | undefined;

  /** Takes the target from the process that exports, which waits for it then. */
  const take = async (): Promise<TargetLock> => {
    if (lock && (await progress.keep(lock))) return lock;
    lock = (await progress.take(name, crypto.randomUUID(), { force: true }))!;
    await target.prepare();
    await target.last?.(source); // ends inserts that still run
    return lock;
  };
  /** Writes the rows of these places, and returns those of them that the target refuses. */
  const fill = async (places: readonly number[]): Promise<Set<number>> => {
    const held = await take();
    const refused = new Set<number>();
    const wanted = new Set(places);
    async function* pages() {
      const span = { after: places[0]! - 1, before: places.at(-1)! + 1 };
      for await (const page of pagesBehind(store, span.after, span.before)) {
        const rows: Row[] = page.filter(({ seq }) => wanted.has(seq));
        if (rows.length) yield rows;
      }
    }
    for (let rest = places; rest.length;) {
      const mayWrite = async () => {
        if (!(await progress.keep(held))) throw new Error(`another process has taken ${name}`);
      };
      const last = await target.fill({
        ...{ source, number: held.number, from: rest[0]! - 1, pages: pages(), mayWrite },
        bury: async (dead) => {
          refused.add(dead.place);
          await progress.bury(held, [dead]);
        },
        signal: new AbortController().signal,
      });
      if (last < rest[0]!) break; // they were erased meanwhile
      for (const place of rest) if (place <= last) wanted.delete(place);
      rest = rest.filter((place) => place > last);
    }
    await progress.unbury(
      name,
      places.filter((place) => !refused.has(place)),
    );
    return refused;
  };

  /** Compares the places of one block. */
  const compare = async (span: PlaceSpan): Promise<void> => {
    const here = await progress.places(span);
    let there = await target.places(source, span);
    const missingOf = (places: readonly number[]): number[] => {
      const has = new Set(places);
      return here.filter((place) => !has.has(place));
    };
    let missing = missingOf(there);
    found.exported += here.length;
    if (missing.length && target.last) {
      await take();
      // An insert that was under way has ended by now.
      there = await target.places(source, span);
      missing = missingOf(there);
      const refused = missing.length ? await fill(missing) : new Set();
      found.filled += missing.length - refused.size;
      found.dead += refused.size;
      found.exported -= refused.size;
    } else {
      found.missing += missing.length;
      found.exported -= missing.length;
    }
    const distinct = new Set(there);
    if (there.length > distinct.size)
      found.twice.push({ from: span.from, rows: there.length - distinct.size });
    const stored = new Set(here);
    found.gone += [...distinct].filter((place) => !stored.has(place)).length;
  };

  try {
    for (let at = Math.floor(from / BLOCK) * BLOCK; at < to; at += BLOCKS * BLOCK) {
      const span = { from: Math.max(at, from), to: Math.min(at + BLOCKS * BLOCK, to) };
      const here = await progress.sumPlaces({ ...span, block: BLOCK });
      const there = await target.sumPlaces(source, { ...span, block: BLOCK });
      for (let block = at; block < span.to; block += BLOCK) {
        const [ours, theirs] = [here.get(block), there.get(block)];
        found.stored += ours?.rows ?? 0;
        if (ours?.rows === theirs?.rows && ours?.places === theirs?.places)
          found.exported += ours?.rows ?? 0;
        else await compare({ from: Math.max(block, from), to: Math.min(block + BLOCK, to) });
      }
      onProgress?.(span.to - 1);
    }
  } finally {
    if (lock) await progress.release(lock);
  }
  return found;
};
