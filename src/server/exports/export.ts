import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../util/errors.js';
import { createReportOnce, type Tell } from '../hooks.js';
import type { Row, Store } from '../store/port.js';
import { LOCK_MS } from '../store/lock-ms.js';
import type { Erasure, Source, TargetDead, TargetLock } from '../store/progress.js';
import { createPause } from '../time.js';
import type { LastRow, Target } from './target.js';

/** Rows that are read at a time. */
const PAGE = 1_000;
/** How often the lock is renewed, and how often a process looks for a target that another process has. */
const RENEW_MS = LOCK_MS / 3;
/** If a target refuses more rows than this one after the other, the fault is taken for its own. */
const MAX_REFUSED = 10;
/** How often erased rows are looked for. A warehouse deletes at a high cost. */
const ERASE_EVERY_MS = 60_000;
/** Erasures that are passed on at a time. */
const ERASURES = 100;
/**
 * After each page, an export pauses for some times as long as it has worked on it, so that an export that catches up
 * leaves most of the time to the records that come in.
 */
const [REST, MAX_REST_MS] = [8, 1_000];

interface Parts {
  store: Pick<Store, 'rows' | 'lastPlace' | 'follow' | 'progress'>;
  target: Target;
  tell: Tell;
  now: () => number;
}

/** Another process has the target by now. It goes on there. */
class LockLostError extends Error {
  override name = 'LockLostError' as const;
}

/** The rows behind a place, in pages. */
export async function* pagesBehind(
  store: Pick<Store, 'rows'>,
  place: number,
  before?: number,
): AsyncGenerator<readonly Row[], void> {
  for (let after = place; ;) {
    const rows = await store.rows({}, { after, before, limit: PAGE });
    if (!rows.length) return;
    yield rows;
    after = rows.at(-1)!.seq;
  }
}

/** Rests after each page. */
async function* withRest(
  pages: AsyncIterable<readonly Row[]>,
  rest: (ms: number) => Promise<void>,
): AsyncGenerator<readonly Row[], void> {
  let startedAt = performance.now();
  for await (const page of pages) {
    yield page;
    await rest(Math.min(MAX_REST_MS, REST * (performance.now() - startedAt)));
    startedAt = performance.now();
  }
}

/**
 * Where to go on. The target itself knows best what it has: an insert may have arrived without an answer, and a target
 * that lost its last rows gets them again. Rejects if the target has rows that this store does not have, and from then
 * on until the target is moved: later rows of the store may come to have the places of those rows.
 */
const goOnFrom = async (
  { rows, lastPlace, progress }: Parts['store'],
  lock: TargetLock,
  there: LastRow | undefined,
): Promise<number> => {
  if (lock.memo !== undefined) throw new Error(lock.memo);
  if (!there) return lock.place;
  const [here] = await rows({}, { after: there.place - 1, before: there.place + 1, limit: 1 });
  if (there.place > (await lastPlace()) || (here && here.id !== there.id)) {
    const words =
      `it has rows up to place ${there.place} that are not in the database, which seems to have been set back. Nothing ` +
      'is exported until `analytics-outbox export from <place> --new-source` says where to go on';
    await progress.keep(lock, { memo: words });
    throw new Error(words);
  }
  const dead = await progress.dead(lock.target, there.place, 1_000_000);
  return Math.max(there.place, ...dead.map((one) => one.place));
};

/**
 * Fills a target with the rows of a store, in their order, until the returned function is called. One process at a time
 * has the lock of the target; others wait for it.
 */
export const startExport = ({ store, target, tell, now }: Parts): (() => Promise<void>) => {
  const { progress } = store;
  const { name } = target;
  const holder = crypto.randomUUID();
  const trouble = createReportOnce(tell, now);
  /** Waits for rows, and waits for some time. */
  const [idle, rest] = [createPause(), createPause()];
  const wait = (ms: number) => rest.pause(ms, { keepsAlive: false });
  /** Since when the target fails. */
  let failingSince: number | undefined;
  let isOver = false;
  let abort = (): void => {};

  const notErased = createReportOnce(tell, now);
  let isErasing = false;
  let erasedAt = -Infinity;
  /** Passes erasures on, and settles when the target has deleted the rows. A failure does not hold up the export. */
  const erase = async (
    lock: TargetLock,
    source: Source,
    erasures: readonly Erasure[],
  ): Promise<void> => {
    isErasing = true;
    try {
      if (target.erase) await target.erase(source, erasures);
      else tell.error({ kind: 'erasure', message: `${name}: ${target.notErased}` });
      lock.erased = erasures.at(-1)!.place;
      await progress.keep(lock, { erased: lock.erased });
      notErased.healed();
    } catch (error) {
      const message = `${name} keeps erased rows: ${messageOf(error)}`;
      notErased.tell({ kind: 'export', message });
    }
    isErasing = false;
  };

  /** Writes on as long as this process has the lock. */
  const goOn = async (lock: TargetLock, signal: AbortSignal): Promise<void> => {
    const source = await progress.source();
    const mayWrite = async (): Promise<void> => {
      signal.throwIfAborted();
      if (!(await progress.keep(lock))) throw new LockLostError();
    };
    /** Whether it was noted, since this process has the lock, that the target works. */
    let isNoted = false;
    /** Notes that the target works, and where it is. */
    const worked = async (place: number): Promise<void> => {
      if (!(await progress.keep(lock, { place, message: null }))) throw new LockLostError();
      lock.place = place;
      failingSince = undefined;
      trouble.healed();
      isNoted = true;
    };
    await target.prepare();
    lock.place = await goOnFrom(store, lock, await target.last?.(source.id));
    if (!(await progress.keep(lock, { place: lock.place }))) throw new LockLostError();

    /** Since when rows wait. At the start they are due at once. */
    let since: number | undefined = -Infinity;
    let isRung = false;
    const stop = store.follow(() => {
      isRung = true;
      idle.wake();
    });
    signal.addEventListener('abort', stop);
    while (!signal.aborted) {
      // All rows that were read before these erasures are written by now, and no later turn reads the erased ones.
      if (!isErasing && Math.abs(now() - erasedAt) >= ERASE_EVERY_MS) {
        erasedAt = now();
        const erasures = await progress.erasures(lock.erased, ERASURES);
        if (erasures.length) void erase(lock, source, erasures);
      }
      isRung = false;
      const [first] = await store.rows({}, { after: lock.place, limit: 1 });
      if (!first) {
        since = undefined;
        if (!isNoted) await worked(lock.place);
        if (!isRung) await idle.pause(RENEW_MS, { keepsAlive: false });
        continue;
      }
      since ??= now();
      const dueInMs = since + target.wait.ms - now();
      const isMany = (await store.lastPlace()) - lock.place >= target.wait.rows;
      if (dueInMs > 0 && !isMany) {
        await wait(Math.min(dueInMs, RENEW_MS));
        continue;
      }
      const pages = withRest(pagesBehind(store, lock.place), wait);
      const bury = async (dead: TargetDead, inARow: number): Promise<void> => {
        if (inARow > MAX_REFUSED) throw new Error(`it refuses every row: ${dead.message}`);
        await progress.bury(lock, [dead]);
      };
      await worked(
        await target.fill({
          ...{ source: source.id, number: lock.number, from: lock.place },
          ...{ pages, mayWrite, bury, signal },
        }),
      );
      since = now();
    }
  };

  /** Takes the target, and gives it back at the end. */
  const hold = async (): Promise<void> => {
    const lock = await progress.take(name, holder);
    if (!lock) return wait(RENEW_MS);
    const ending = new AbortController();
    const { signal } = ending;
    abort = () => {
      ending.abort();
      idle.wake();
      rest.wake();
    };
    if (isOver) abort();
    const renewing = setInterval(() => {
      progress.keep(lock).then(
        (isOurs) => isOurs || abort(),
        () => {}, // the database is away: `mayWrite` fails before the next write
      );
    }, RENEW_MS);
    try {
      await goOn(lock, signal);
    } catch (error) {
      if (signal.aborted || error instanceof LockLostError) return;
      await progress.keep(lock, { message: messageOf(error) }).catch(() => {}); // it is told below
      throw error;
    } finally {
      abort();
      clearInterval(renewing);
      await progress.release(lock).catch(() => {}); // it runs out by itself
    }
  };

  const run = async (): Promise<void> => {
    while (!isOver) {
      try {
        await hold();
      } catch (error) {
        if (isOver) return;
        failingSince ??= now();
        trouble.tell({ kind: 'export', message: `${name}: ${messageOf(error)}` });
        await wait(waitInTrouble(now() - failingSince, Math.random()));
      }
    }
  };
  const running = run();

  return async () => {
    isOver = true;
    abort();
    rest.wake();
    await running;
  };
};
