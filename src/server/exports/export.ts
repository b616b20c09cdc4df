import { messageOf } from '../../util/errors.js';
import { createReportOnce, type Tell } from '../hooks.js';
import type { Row, Store } from '../store/port.js';
import type { TargetDead } from '../store/progress.js';
import { monotonicNow, sleep } from '../time.js';
import { createTellForgotten } from '../tell-lost.js';
import { createErasing } from './erasing.js';
import { holdTarget, type HeldTarget } from './hold-target.js';
import { pagesBehind } from './pages-behind.js';
import { followRowNews } from './row-news.js';
import type { LastRow, Target } from './target.js';

/** The longest time between two looks for new rows and erasures. */
const LOOK_MS = 10_000;
/** How often a target is asked whether its rows are still there. */
const ASK_MS = 3_600_000;
/** If a target refuses more rows than this without taking one, the fault is that of the target, and the rows wait. */
const MAX_REFUSED = 10;
/**
 * After each page, an export pauses for some times as long as it has worked on it, so that an export that catches up
 * leaves most of the time to the records that come in.
 */
const [REST, MAX_REST_MS] = [8, 1_000];

type ExportStore = Pick<Store, 'rows' | 'lastPlace' | 'follow' | 'progress'>;

interface Parts {
  store: ExportStore;
  target: Target;
  tell: Tell;
}

/** Rests after each page. */
async function* withRest(
  pages: AsyncIterable<readonly Row[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[], void> {
  let startedAt = performance.now();
  for await (const page of pages) {
    yield page;
    await sleep(Math.min(MAX_REST_MS, REST * (performance.now() - startedAt)), signal);
    startedAt = performance.now();
  }
}

/**
 * Where to go on. The target itself knows best what it has: an insert may have arrived without an answer, and a target
 * that lost its last rows gets them again. Rejects if the target has rows that this store does not have, and from then
 * on until the target is moved: later rows of the store may come to have the places of those rows.
 */
const goOnFrom = async (
  { rows, lastPlace, progress }: ExportStore,
  { lock, keep }: HeldTarget,
  place: number,
  there: LastRow | undefined,
): Promise<number> => {
  if (lock.memo !== undefined) throw new Error(lock.memo);
  if (!there) return place;
  const [here] = await rows({}, { after: there.place - 1, before: there.place + 1, limit: 1 });
  if (there.place > (await lastPlace()) || (here && here.id !== there.id)) {
    const memo =
      `it has rows up to place ${there.place} that are not in the database, which seems to have been set back. Nothing ` +
      'is exported until `analytics-outbox export from <place> --new-source` says where to go on';
    await keep({ memo });
    throw new Error(memo);
  }
  const dead = await progress.dead(lock.target, there.place, 1_000_000);
  return dead.at(-1)?.place ?? there.place;
};

/**
 * The first row that is stored here and no longer in the target, because somebody has emptied it or dropped its table.
 * Only its beginning is looked at: to compare all rows is the work of `verify`.
 */
const firstLost = async (
  { rows, progress }: ExportStore,
  { target, place, since }: { target: string; place: number; since: number },
  there: LastRow | undefined,
): Promise<number | undefined> => {
  const before = Math.min(there?.first ?? Infinity, place + 1);
  const [row] = await rows({}, { after: since, before, limit: 1 });
  if (!row) return undefined;
  const [dead] = await progress.dead(target, row.seq - 1, 1);
  return dead?.place === row.seq ? undefined : row.seq;
};

/**
 * Fills a target with the rows of a store, in their order, until the returned function is called. One process at a time
 * has the target; others wait for it.
 */
export const startExport = ({ store, target, tell }: Parts): (() => Promise<void>) => {
  const { progress } = store;
  const { name } = target;
  const erasingTrouble = createReportOnce(tell, Date.now);
  const tellForgotten = createTellForgotten(tell, name);
  let isLossTold = false;

  /** Writes rows until the signal of the target is aborted. */
  const write = async (held: HeldTarget, works: () => void): Promise<void> => {
    const { lock, keep, signal } = held;
    const source = await progress.source();
    const news = followRowNews(store, signal);
    const passErasuresOn = createErasing({ progress, target, tell, trouble: erasingTrouble }, held);
    await target.prepare(signal);
    let { place } = lock;
    let askedAt = 0;
    /** Finds out where to go on, and says once that the target has lost rows. */
    const askTarget = async (): Promise<void> => {
      const there = await target.last?.(source.id, signal);
      askedAt = monotonicNow();
      const known = { target: name, place, since: source.since };
      place = await goOnFrom(store, held, place, there);
      const lost = target.last && (await firstLost(store, known, there));
      if (lost !== undefined && !isLossTold)
        tell.error({
          kind: 'dropped',
          message: `${name} lacks rows that it had, from place ${lost} on, as if its table was dropped or emptied: \`analytics-outbox export verify\` writes them again`,
        });
      isLossTold = lost !== undefined;
    };
    await askTarget();
    await keep({ place });

    const mayWrite = async (): Promise<void> => {
      signal.throwIfAborted();
      await keep();
    };
    const bury = async (dead: TargetDead, inARow: number): Promise<void> => {
      if (inARow > MAX_REFUSED) throw new Error(`it refuses every row: ${dead.message}`);
      tellForgotten(await progress.bury(lock, [dead]));
    };
    /** Notes that the target works, and has all rows up to a place. */
    const reached = async (last: number): Promise<void> => {
      place = last;
      await keep({ place, message: null });
      works();
    };

    /** Since when rows wait; undefined while there are none. At the start they are due at once. */
    let since: number | undefined = -Infinity;
    while (!signal.aborted) {
      await passErasuresOn();
      if (monotonicNow() - askedAt >= ASK_MS) await askTarget();
      news.forget();
      const [first] = await store.rows({}, { after: place, limit: 1 });
      if (!first) {
        if (since !== undefined) await reached(place);
        since = undefined;
        await news.wait(LOOK_MS);
        continue;
      }
      since ??= monotonicNow();
      const dueInMs = since + target.wait.ms - monotonicNow();
      const isMany = (await store.lastPlace()) - place >= target.wait.rows;
      if (dueInMs > 0 && !isMany) {
        await sleep(Math.min(dueInMs, LOOK_MS), signal);
        continue;
      }
      const pages = withRest(pagesBehind(store, place), signal);
      await reached(
        await target.fill({
          ...{ source: source.id, number: lock.number, from: place },
          ...{ pages, mayWrite, bury, signal },
        }),
      );
      since = undefined;
    }
  };

  return holdTarget({
    ...{ progress, name, tell },
    problemOf: (words) => ({ kind: 'export', message: `${name}: ${words}` }),
    work: async (held, works) => {
      try {
        await write(held, works);
      } catch (error) {
        // It is reported as well, even if the database is away.
        if (!held.signal.aborted) await held.keep({ message: messageOf(error) }).catch(() => {});
        throw error;
      }
    },
  });
};
