import { messageOf } from '../../util/errors.js';
import type { Row, Store } from '../store/port.js';
import type { PlaceSpan } from '../store/progress.js';
import { withLock, type HeldTarget } from './hold-target.js';
import { pagesBehind } from './pages-behind.js';
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
  /** Rows of the target that are no longer in the database: they expired, or were erased. */
  gone: number;
  /** Rows that the target has more than once, by the first place of their block. */
  twice: { from: number; rows: number }[];
  /** Rows behind the place of the target, which go there later. */
  waiting: number;
  /** Why the target takes no rows, in words; missing if it takes them. */
  problem?: string | undefined;
  /** Whether a process exports to the target now. */
  isHeld: boolean;
}

interface Parts {
  store: Pick<Store, 'rows' | 'progress'>;
  target: Target;
  /** Called now and then with the place up to which both sides are compared. */
  onProgress?: (place: number) => void;
}

/** Reads the rows of some places, in pages. */
async function* pagesOf(
  store: Parts['store'],
  places: readonly number[],
): AsyncGenerator<readonly Row[], void> {
  const wanted = new Set(places);
  for await (const page of pagesBehind(store, places[0]! - 1, places.at(-1)! + 1)) {
    const rows = page.filter(({ seq }) => wanted.has(seq));
    if (rows.length) yield rows;
  }
}

/**
 * Compares the rows of a target with those of the store, up to the place of the target. Rows that are missing there are
 * written again, also those that it has refused. For that, the target is taken from the process that exports to it. If the
 * target is away or set up wrongly, nothing is compared.
 */
export const verify = async ({ store, target, onProgress }: Parts): Promise<Verified> => {
  const { progress } = store;
  const { name, sumPlaces, places: placesOf } = target;
  if (!sumPlaces || !placesOf)
    throw new Error(`${name} takes each row once by its id: \`export from\` sends rows again`);
  const state = (await progress.targets()).find((one) => one.name === name);
  if (!state) throw new Error(`nothing was exported to ${name} yet`);
  const { id: source, since } = await progress.source();
  const [first] = await store.rows({}, { limit: 1 });
  // Rows up to `since` have another source there.
  const from = Math.max(first?.seq ?? state.place + 1, since + 1);
  const to = state.place + 1;
  const behind = { from: Math.max(from, to), to: Number.MAX_SAFE_INTEGER, block: BLOCK };
  const waiting = [...(await progress.sumPlaces(behind)).values()];
  const found: Verified = {
    ...{ from, to, stored: 0, exported: 0, filled: 0, missing: 0, dead: 0, gone: 0, twice: [] },
    ...{ problem: state.message, isHeld: state.isHeld },
    waiting: waiting.reduce((sum, { rows }) => sum + rows, 0),
  };
  try {
    // Makes a table that was dropped. To prepare files would delete the one that is being written.
    if (target.last) await target.prepare();
  } catch (error) {
    return { ...found, to: from, problem: messageOf(error) };
  }

  /** Compares the places of one block. */
  const compare = async (span: PlaceSpan) => {
    const here = await progress.places(span);
    const there = await placesOf(source, span);
    const has = new Set(there);
    return { here, there, missing: here.filter((place) => !has.has(place)) };
  };
  /** Counts the rows of one block. `lacking`: how many of them the target does not have. */
  const count = (
    { from }: PlaceSpan,
    { here, there }: Awaited<ReturnType<typeof compare>>,
    lacking: number,
  ): void => {
    const [stored, distinct] = [new Set(here), new Set(there)];
    found.exported += here.length - lacking;
    found.gone += [...distinct].filter((place) => !stored.has(place)).length;
    const rows = there.length - distinct.size;
    if (rows) found.twice.push({ from, rows });
  };
  /** Writes the rows of these places, and returns how many of them the target refuses. */
  const fill = async (
    { lock, keep, signal }: HeldTarget,
    places: readonly number[],
  ): Promise<number> => {
    const refused = new Set<number>();
    for (let rest = places; rest.length;) {
      const last = await target.fill({
        ...{ source, number: lock.number, from: rest[0]! - 1, pages: pagesOf(store, rest), signal },
        mayWrite: keep,
        bury: async (dead) => {
          refused.add(dead.place);
          await progress.bury(lock, [dead]);
        },
      });
      if (last < rest[0]!) break; // they were erased meanwhile
      rest = rest.filter((place) => place > last);
    }
    const written = places.filter((place) => !refused.has(place));
    await progress.unbury(name, written);
    return refused.size;
  };

  /** Blocks with rows that the target lacks and can still be given. */
  const gaps: PlaceSpan[] = [];
  for (let at = Math.floor(from / BLOCK) * BLOCK; Math.max(at, from) < to; at += BLOCKS * BLOCK) {
    const span = { from: Math.max(at, from), to: Math.min(at + BLOCKS * BLOCK, to) };
    const here = await progress.sumPlaces({ ...span, block: BLOCK });
    const there = await sumPlaces(source, { ...span, block: BLOCK });
    for (let first = at; first < span.to; first += BLOCK) {
      const [ours, theirs] = [here.get(first), there.get(first)];
      found.stored += ours?.rows ?? 0;
      if (ours?.rows === theirs?.rows && ours?.places === theirs?.places) {
        found.exported += ours?.rows ?? 0;
        continue;
      }
      const block = { from: Math.max(first, from), to: Math.min(first + BLOCK, to) };
      const compared = await compare(block);
      const missing = compared.missing.length;
      if (missing && target.last) gaps.push(block);
      else {
        found.missing += missing;
        count(block, compared, missing);
      }
    }
    onProgress?.(span.to - 1);
  }
  if (!gaps.length) return found;

  const lock = (await progress.take(name, crypto.randomUUID(), { force: true }))!;
  await withLock(progress, lock, async (held) => {
    await target.last?.(source, held.signal); // ends inserts that still run
    for (const block of gaps) {
      const compared = await compare(block);
      const refused = await fill(held, compared.missing);
      found.filled += compared.missing.length - refused;
      found.dead += refused;
      count(block, compared, refused);
    }
  });
  return found;
};
