import { waitInTrouble } from '../../interface/backoff.js';
import { messageOf } from '../../util/errors.js';
import type { ServiceHealth } from '../deliver/backoff.js';
import { positive } from '../../interface/kinds.js';
import type { Kinds } from '../check-options.js';
import { DELIVERY_KINDS, createDelivery, type DeliveryOptions } from '../deliver/delivery.js';
import { createReportOnce, type Hooks, type Tell } from '../hooks.js';
import { SERVICE } from '../store/parked.js';
import type { Store } from '../store/port.js';
import { createTellForgotten } from '../tell-lost.js';
import { createHand, type InHand, type Outcome } from './hand.js';
import { holdTarget, type HeldTarget } from './hold-target.js';
import { followRowNews, newestPlace } from './row-news.js';

/** Nobody else passes anything on while a lock holds, so this one holds for a short time. */
const PASSING_LOCK_MS = 10_000;
/** The longest time between two looks for new rows, and the shortest one. */
const [LOOK_MS, LEAST_MS] = [2_000, 250];
const DAY_MS = 86_400_000;

/** To which service the rows of a store are passed on, and how. */
export interface PassOnOptions extends Omit<DeliveryOptions, keyof Hooks | 'now'> {
  /** Milliseconds after which a row is tried once more, and refused if that fails. @default 604800000 (7 days) */
  maxAge?: number | undefined;
}

export const PASS_ON_KINDS: Kinds<PassOnOptions> = { ...DELIVERY_KINDS, maxAge: positive };

/** Passes the rows of a store on to another service. */
export interface PassingOn {
  health: () => ServiceHealth;
  /** Ends all waits at once, also those that the service has asked for. */
  tryNow: () => void;
  /** Settles when the requests under way are finished. */
  stop: () => Promise<void>;
}

interface Parts {
  store: Pick<Store, 'follow' | 'lastPlace' | 'progress' | 'rows'>;
  options: PassOnOptions;
  tell: Tell;
}

/**
 * Passes rows on to another service, in the order of their places, from the newest one at the first start. One process at
 * a time does so, for all that share the store. While it is the service that fails, the place of the target stands. A row
 * that fails by itself is parked, as are the rows of a client that is slow or fails, and the place goes on.
 */
export const startPassingOn = ({ store, options, tell }: Parts): PassingOn => {
  const { progress } = store;
  const { maxAge = 7 * DAY_MS, concurrency = 32 } = options;
  const delivery = createDelivery(options, tell);
  const trouble = createReportOnce(tell, Date.now);
  const tellForgotten = createTellForgotten(tell, SERVICE);
  let tryParked = (): void => {};

  const outcomeOf = async (
    row: InHand,
    result: ReturnType<typeof delivery.deliver>[number],
  ): Promise<Outcome | undefined> => {
    const { outcome, status, untried, retry_after: waitS = 0, message } = await result;
    const isPaused = delivery.waitMs() > 0;
    if (untried) return isPaused || !waitS ? undefined : { is: 'untried', waitMs: waitS * 1_000 };
    tell.metric('records', 1, { side: 'out', outcome });
    if (outcome === 'delivered' || outcome === 'accepted') return { is: 'done' };
    const words = (reason: string) => `${reason} ${status}${message ? `: ${message}` : ''}`;
    if (outcome === 'rejected') return { is: 'dead', message: words(outcome) };
    row.tries++;
    row.since ||= Date.now();
    if (isPaused) return undefined;
    // Only a row that has failed can be too old: the clock of this machine may be days ahead.
    const isOld = Date.now() - Date.parse(row.record.receivedAt) > maxAge;
    if (isOld) return { is: 'dead', message: words('expired') };
    return { is: 'failed', waitMs: waitInTrouble(Date.now() - row.since, Math.random()) };
  };

  const work = async ({ lock, keep, sureMs, signal }: HeldTarget, works: () => void) => {
    // A store that was set back gives the places of its lost rows again.
    lock.place = Math.min(lock.place, await store.lastPlace());
    await keep({ place: lock.place });
    const news = followRowNews(store, signal);
    let { erased } = lock;
    let day = '';
    let noted: string | undefined;

    const hand = createHand({
      ...{ progress, lock, most: concurrency, changed: news.ring },
      send: (row, settled) => {
        const { record, tries } = row;
        const stored = { tries, at: Date.parse(record.receivedAt), settled };
        const deliverOptions = {
          get until() {
            return signal.aborted || row.isErased ? -Infinity : Date.now() + sureMs();
          },
        };
        const [result] = delivery.deliver([{ ...record, stored }], deliverOptions);
        return outcomeOf(row, result!);
      },
      committed: (error) => {
        if (error === undefined) return trouble.healed();
        trouble.tell({ kind: 'export', message: `${SERVICE}: ${messageOf(error)}` });
      },
      lost: () => void keep().catch(() => {}), // it aborts the signal
      dropped: tellForgotten,
    });
    tryParked = () =>
      void hand
        .tryNow()
        .finally(news.ring)
        .catch(() => {}); // they are due later

    /** Notes why nothing is passed on, for people. */
    const note = async (): Promise<void> => {
      const { reason } = delivery.health();
      if (reason === noted) return;
      noted = reason;
      await keep({ message: reason ?? null });
    };
    const forgetErased = async (): Promise<void> => {
      const last = await progress.lastErasure();
      if (last <= erased) return;
      await hand.forgetErased();
      await keep({ erased: (erased = last) });
    };
    /** Old secrets go even if nobody sends anything. */
    const forgetSecrets = async (): Promise<void> => {
      const today = new Date().toISOString().slice(0, 10);
      if (day !== today) await progress.secretOf((day = today));
    };

    try {
      while (!signal.aborted) {
        news.forget();
        const waitMs = sureMs() > 0 ? delivery.waitMs() : LEAST_MS;
        if (waitMs > 0 || noted !== undefined) await note();
        if (waitMs > 0) {
          await news.wait(Math.min(waitMs, LOOK_MS));
          continue;
        }
        await forgetSecrets();
        await forgetErased();
        const isMore = await hand.read();
        hand.begin();
        works();
        if (!isMore) await news.wait(Math.max(LEAST_MS, Math.min(hand.dueMs(), LOOK_MS)));
      }
    } finally {
      tryParked = () => {};
      await hand.close();
    }
  };

  /** Asked for before the first row can come. */
  const first = newestPlace(store);
  first.catch(() => {}); // it is asked for again
  const stop = holdTarget({
    ...{ progress, tell, work, name: SERVICE, lockMs: PASSING_LOCK_MS },
    from: () => first.catch(() => newestPlace(store)),
    problemOf: (words) => ({ kind: 'export', message: `${SERVICE}: ${words}` }),
  });
  return {
    stop,
    health: delivery.health,
    tryNow: () => {
      delivery.tryNow();
      tryParked();
    },
  };
};
