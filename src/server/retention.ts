import { messageOf } from '../util/errors.js';
import { createReportOnce, type Tell } from './hooks.js';
import type { Store } from './store/port.js';
import { createTellLost } from './tell-lost.js';
import { createPause } from './time.js';

const DAY_MS = 86_400_000;
/** How much longer rows are kept that a target of an export lacks. */
const WAIT_DAYS = 7;
const LOOK_MS = 60_000;
/** How many rows are deleted at a time, and the pause after that, so that writes are not held up. */
const [BATCH, PAUSE_MS] = [500, 50];

interface Parts {
  store: Pick<Store, 'rows' | 'expire' | 'expireRefused' | 'expireProfiles' | 'progress'>;
  days: number;
  tell: Tell;
  now: () => number;
}

const LOST = 'rows were deleted by their age (`retentionDays`) that were not exported';

/**
 * Deletes old rows and profiles, a few at a time, and what was refused, until the returned function is called. Rows that
 * a target of an export lacks are kept for up to 7 days more.
 */
export const startRetention = ({ store, days, tell, now }: Parts): (() => void) => {
  const { pause, wake } = createPause();
  let isOver = false;
  const trouble = createReportOnce(tell, now);
  const lost = createTellLost(tell, LOST, now);

  // Not before 1970: with a large number of days the date may be one that a database does not know.
  const daysAgo = (count: number): string =>
    new Date(Math.max(0, now() - count * DAY_MS)).toISOString();

  /** Deletes some of the rows that arrived before a time and, if there is a place, are not behind it. */
  const expire = async (before: string, place: number | undefined): Promise<number> => {
    if (place === undefined) return store.expire(before, BATCH);
    const upto = place + 1;
    // Otherwise each look would go through all of the rows that are kept for a target.
    const [first] = await store.rows({}, { before: upto, limit: 1 });
    return first ? store.expire(before, BATCH, upto) : 0;
  };
  /** Deletes some of the rows that were kept for targets and are too old by now. */
  const giveUp = async (targets: readonly { name: string; place: number }[]): Promise<number> => {
    let all = 0;
    for (const index of targets.keys()) {
      // All rows up to the place of this target are gone, so these are behind it, and up to the place of the next one.
      const rows = await expire(daysAgo(days + WAIT_DAYS), targets[index + 1]?.place);
      for (const { name } of rows ? targets.slice(0, index + 1) : []) lost.add(name, rows);
      all += rows;
      if (rows === BATCH) break;
    }
    return all;
  };

  const look = async (): Promise<number> => {
    const targets = (await store.progress.targets()).map(({ name, place, owes = Infinity }) => ({
      name,
      // Rows that are parked are still to be sent.
      place: Math.min(place, owes - 1),
    }));
    targets.sort((a, b) => a.place - b.place);
    const rows = await expire(daysAgo(days), targets[0]?.place);
    const late = rows < BATCH ? await giveUp(targets) : 0;
    await store.expireRefused(daysAgo(days));
    const profiles = await store.expireProfiles(daysAgo(days), BATCH);
    trouble.healed();
    lost.tell();
    const expired = rows + late + profiles;
    if (expired) tell.metric('expired', expired);
    return expired < BATCH ? LOOK_MS : PAUSE_MS;
  };
  const failed = (error: unknown): number => {
    trouble.tell({ kind: 'store', message: `rows are not deleted by age: ${messageOf(error)}` });
    return LOOK_MS;
  };
  const run = async (): Promise<void> => {
    let waitMs = 0;
    while (!isOver) {
      await pause(waitMs, { keepsAlive: false });
      if (!isOver) waitMs = await look().catch(failed);
    }
  };
  void run();

  return () => {
    isOver = true;
    wake();
  };
};
