import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../util/errors.js';
import { createReportOnce, createTell, type Hooks, type Tell } from '../hooks.js';
import { LOCK_MS } from '../store/lock-ms.js';
import type { TargetLock } from '../store/progress.js';
import type { Store } from '../store/port.js';
import { createPause, monotonicNow } from '../time.js';
import type { NotifyAddress } from './notify-address.js';
import { createEventMatcher, type EventNames } from './notify-events.js';
import { createLedger, type Ledger } from './notify-ledger.js';
import { createPost, type Post } from './notify-post.js';

/** How often a lock is renewed, and another process is asked for it. */
const RENEW_MS = LOCK_MS / 3;
/** Rows that come within this time of the last ones are read together. */
const LOOK_MS = 200;
const PAGE = 500;

type NotifyStore = Pick<Store, 'rows' | 'follow' | 'progress'>;

interface Parts {
  store: NotifyStore;
  name: string;
  post: Post;
  matches: (names: EventNames) => boolean;
  tell: Tell;
  now: () => number;
  /** The clock for waits. It must go on evenly when somebody sets the time of the machine. */
  ticks: () => number;
}

/** The highest place that has a row. Unlike `lastPlace` it has none of rows that are being written. */
const newestPlace = async (store: NotifyStore): Promise<number> =>
  (await store.rows({}, { newest: true, limit: 1 }))[0]?.seq ?? 0;

/** Tells one target of the rows, in one process at a time, until the returned function is called. */
const startTarget = ({ store, name, post, matches, tell, now, ticks }: Parts) => {
  const { progress } = store;
  const holder = crypto.randomUUID();
  const { pause, wake } = createPause();
  const targetTrouble = createReportOnce(tell, now);
  const storeTrouble = createReportOnce(tell, now);
  let isStopping = false;
  let hasNews = false;
  let isIdle = false;
  let lock: TargetLock | undefined;
  /** While the target takes nothing: since when, and when it is tried again. */
  let failing: { since: number; until: number } | undefined;

  const endFollowing = store.follow(() => {
    hasNews = true;
    if (isIdle) wake();
  });

  /** Waits for a time, or until there are news. */
  const idle = async (ms: number): Promise<void> => {
    await pause(Math.min(ms, LOOK_MS));
    if (hasNews || isStopping || ms <= LOOK_MS) return;
    isIdle = true;
    await pause(ms - LOOK_MS);
    isIdle = false;
  };

  const read = async (ledger: Ledger): Promise<void> => {
    hasNews = false;
    const { upto } = ledger.unread();
    const newest = Math.min(upto, await newestPlace(store));
    for (let { after } = ledger.unread(); after < newest && !isStopping;) {
      const rows = await store.rows({ notify: true }, { after, before: newest + 1, limit: PAGE });
      after = rows.length < PAGE ? newest : rows.at(-1)!.seq;
      const meant = rows.filter(({ body }) => matches(body as EventNames));
      ledger.add(meant, after, now());
    }
  };

  /** Notes how far the target has come. Returns false if another process has it by now. */
  const keep = async (
    held: TargetLock,
    ledger: Ledger,
    message?: string | null,
  ): Promise<boolean> => {
    const kept = ledger.kept(now());
    // There is nothing to erase in a target, so each erasure is passed on as it is read.
    const changes = { ...kept, erased: kept.place, ...(message !== undefined && { message }) };
    return progress.keep(held, changes);
  };

  /** Sends the message under way. Returns what `keep` returns. */
  const send = async (
    held: TargetLock,
    ledger: Ledger,
    message: Parameters<Post>[0],
  ): Promise<boolean> => {
    if (!(await keep(held, ledger))) return false;
    const { outcome, words, retryAfterMs } = await post(message);
    tell.metric('notified', 1, { outcome });
    if (outcome === 'delivered') {
      ledger.settle(now());
      failing = undefined;
      targetTrouble.healed();
      return keep(held, ledger, null);
    }
    const since = failing?.since ?? ticks();
    const waitMs = Math.max(waitInTrouble(ticks() - since, Math.random()), retryAfterMs);
    failing = { since, until: ticks() + waitMs };
    targetTrouble.tell({ kind: 'notify', message: `${name} ${words}. Messages wait` });
    return keep(held, ledger, words);
  };

  /** Tells the target of rows, until another process has it. */
  const hold = async (held: TargetLock): Promise<void> => {
    const ledger = createLedger(held.place, held.memo);
    let renewed = ticks();
    while (!isStopping) {
      await read(ledger);
      if (isStopping) return;
      const next = ledger.next(now());
      const waitMs = 'waitMs' in next ? next.waitMs : Math.max(0, (failing?.until ?? 0) - ticks());
      const isDue = 'message' in next && !waitMs;
      if (isDue || ticks() - renewed >= RENEW_MS) {
        renewed = ticks();
        if (!(await (isDue ? send(held, ledger, next.message) : keep(held, ledger)))) return;
      } else await idle(Math.min(waitMs, RENEW_MS - (ticks() - renewed)));
    }
  };

  const run = async (): Promise<void> => {
    let awaySince: number | undefined;
    while (!isStopping) {
      let waitMs = RENEW_MS;
      try {
        lock = await progress.take(name, holder, { from: await newestPlace(store) });
        awaySince = undefined;
        storeTrouble.healed();
        if (lock) await hold(lock);
      } catch (error) {
        awaySince ??= ticks();
        waitMs = waitInTrouble(ticks() - awaySince, Math.random());
        const message = `notifications wait for the database: ${messageOf(error)}`;
        storeTrouble.tell({ kind: 'store', message });
      }
      if (!isStopping) await pause(waitMs);
    }
    // If the database is away, the lock ends by itself.
    if (lock) await progress.release(lock).catch(() => {});
  };
  const running = run();

  return async (): Promise<void> => {
    isStopping = true;
    endFollowing();
    wake();
    await running;
  };
};

/** Which rows ring, and where. */
export interface NotifyOptions {
  addresses: readonly NotifyAddress[];
  /** The secrets that sign webhooks, each `whsec_` and base64. */
  secrets: readonly string[];
  /** Patterns of events, such as `shop/orders/*`. */
  events: readonly string[];
  /** Where people reach the page of the rows. */
  publicUrl: string | undefined;
}

interface Effects extends Hooks {
  store: NotifyStore;
  now?: () => number;
}

/** Sends messages about rows with `notify: true`, until the returned function is called. */
export const startNotify = (
  { addresses, events, ...shared }: NotifyOptions,
  { store, now = Date.now, ...hooks }: Effects,
): (() => Promise<void>) => {
  const [tell, matches] = [createTell(hooks), createEventMatcher(events)];
  const ticks = now === Date.now ? monotonicNow : now;
  const stops = addresses.map((address) => {
    const post = createPost({ address, ...shared }, now);
    return startTarget({ store, name: address.name, post, matches, tell, now, ticks });
  });
  return async () => void (await Promise.all(stops.map((stop) => stop())));
};
