import { waitInTrouble } from '../../interface/backoff.js';
import { createReportOnce, type Tell } from '../hooks.js';
import type { Store } from '../store/port.js';
import { monotonicNow, sleep } from '../time.js';
import { holdTarget, type HeldTarget } from './hold-target.js';
import type { NotifyAddress } from './notify-address.js';
import { createEventMatcher, type EventNames } from './notify-events.js';
import type { NotifyTarget } from './notify-formats.js';
import { createLedger } from './notify-ledger.js';
import type { Message } from './notify-message.js';
import { createPost, type Post } from './notify-post.js';
import { followRowNews, newestPlace } from './row-news.js';

/** How often the place is noted while there is no message to send. */
const NOTE_MS = 10_000;
/** Rows that come within this time of the last ones are read together. */
const GATHER_MS = 200;
const PAGE = 500;

type NotifyStore = Pick<Store, 'rows' | 'follow' | 'progress'>;

interface Parts {
  store: NotifyStore;
  tell: Tell;
}

interface TargetParts extends Parts {
  name: string;
  post: Post;
  matches: (names: EventNames) => boolean;
}

/** Sends messages to one target until the returned function is called. */
const startTarget = ({ store, name, post, matches, tell }: TargetParts): (() => Promise<void>) => {
  const trouble = createReportOnce(tell, Date.now);
  /** While the target takes no message: since when, and when it is tried again. */
  let failing: { since: number; until: number } | undefined;

  const work = async ({ lock, keep, signal }: HeldTarget, works: () => void): Promise<void> => {
    const ledger = createLedger(lock.place, lock.memo);
    const news = followRowNews(store, signal);
    let notedAt = monotonicNow();

    const read = async (): Promise<void> => {
      news.forget();
      const { after, upto } = ledger.unread();
      const newest = Math.min(upto, await newestPlace(store));
      for (let place = after; place < newest && !signal.aborted;) {
        const span = { after: place, before: newest + 1, limit: PAGE };
        const rows = await store.rows({ notify: true }, span);
        place = rows.length < PAGE ? newest : rows.at(-1)!.seq;
        const meant = rows.filter(({ body }) => matches(body as EventNames));
        ledger.add(meant, place, Date.now());
      }
    };
    /** Notes how far the target is, and why it takes no message; null if it takes them. */
    const note = async (message?: string | null): Promise<void> => {
      notedAt = monotonicNow();
      const kept = ledger.kept(Date.now());
      // A target has nothing to erase, so all erasures up to the place count as passed on.
      await keep({ ...kept, erased: kept.place, ...(message !== undefined && { message }) });
    };
    /** Sends the message under way. A stop waits for its answer: without one, the message is sent again later. */
    const send = async (message: Message): Promise<void> => {
      await note();
      const { outcome, words, retryAfterMs } = await post(message);
      tell.metric('notified', 1, { outcome });
      if (outcome === 'delivered' || outcome === 'dropped') {
        ledger.settle(Date.now());
        failing = undefined;
        trouble.healed();
        if (outcome === 'delivered') return note(null);
        const about = message.count === 1 ? 'one row' : `${message.count} rows`;
        tell.error({ kind: 'dropped', message: `the message about ${about}: ${name} ${words}` });
        return note(words);
      }
      const since = failing?.since ?? monotonicNow();
      const waitMs = waitInTrouble(monotonicNow() - since, Math.random());
      failing = { since, until: monotonicNow() + Math.max(waitMs, retryAfterMs) };
      trouble.tell({ kind: 'notify', message: `${name} ${words}. Messages wait` });
      await note(words);
    };

    while (!signal.aborted) {
      await read();
      signal.throwIfAborted();
      works();
      const next = ledger.next(Date.now());
      const waitMs = 'waitMs' in next ? next.waitMs : (failing?.until ?? 0) - monotonicNow();
      if ('message' in next && waitMs <= 0) {
        await send(next.message);
        continue;
      }
      if (monotonicNow() - notedAt >= NOTE_MS) await note();
      await sleep(Math.min(waitMs, GATHER_MS), signal);
      if (waitMs > GATHER_MS) await news.wait(Math.min(waitMs, NOTE_MS) - GATHER_MS);
    }
  };

  return holdTarget({
    ...{ progress: store.progress, name, tell, work },
    from: () => newestPlace(store),
    problemOf: (words) => ({
      kind: 'store',
      message: `notifications wait for the database: ${words}`,
    }),
  });
};

/** Which rows make messages, and who gets them. */
export interface NotifyOptions extends Omit<NotifyTarget, 'address'> {
  addresses: readonly NotifyAddress[];
  /** Patterns of events, such as `shop/orders/*`. */
  events: readonly string[];
}

/** Sends messages about rows with `notify: true`, until the returned function is called. */
export const startNotify = (
  { addresses, events, ...shared }: NotifyOptions,
  parts: Parts,
): (() => Promise<void>) => {
  const matches = createEventMatcher(events);
  const stops = addresses.map((address) => {
    const post = createPost({ address, ...shared });
    return startTarget({ ...parts, name: address.name, post, matches });
  });
  return async () => void (await Promise.all(stops.map((stop) => stop())));
};
