import { messageOf } from '../util/errors.js';
import { createReportOnce, type Tell } from './hooks.js';
import type { Store } from './store/port.js';

const DAY_MS = 86_400_000;
const LOOK_MS = 60_000;
/** How many rows are deleted at a time, and the pause after that, so that writes are not held up. */
const [BATCH, PAUSE_MS] = [500, 50];

interface Parts {
  store: Pick<Store, 'expire'>;
  days: number;
  tell: Tell;
  now: () => number;
}

/** Deletes old rows and profiles, a few at a time, until the returned function is called. */
export const startRetention = ({ store, days, tell, now }: Parts): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const trouble = createReportOnce(tell, now);

  const look = async (): Promise<number> => {
    // Not before 1970: with a large number of days the date may be one that a database does not know.
    const before = new Date(Math.max(0, now() - days * DAY_MS)).toISOString();
    const expired = await store.expire(before, BATCH);
    trouble.healed();
    if (expired) tell.metric('expired', expired);
    return expired < BATCH ? LOOK_MS : PAUSE_MS;
  };
  const next = (ms: number): void => {
    if (isOver) return;
    timer = setTimeout(() => void run(), ms);
    // On Node it keeps no process alive.
    (timer as { unref?: () => void }).unref?.();
  };
  const run = async (): Promise<void> => {
    try {
      next(await look());
    } catch (error) {
      trouble.tell({ kind: 'store', message: `rows are not deleted by age: ${messageOf(error)}` });
      next(LOOK_MS);
    }
  };
  next(0);

  return () => {
    isOver = true;
    clearTimeout(timer);
  };
};
