import type { Store } from '../store/port.js';
import { HOUR_MS, hourOf, judgeArriving, PAST_HOURS, type Arriving } from './arriving.js';

interface Parts {
  store: Pick<Store, 'rows' | 'hours'>;
  now: () => number;
}

/** Judges whether the rows of all projects, or of one, arrive as usual. */
export const createArrivals = ({ store, now }: Parts, project?: string) => {
  /** Hours that were over when they were read, and the first one that was not. */
  let hours = new Map<number, number>();
  let unread = -Infinity;
  let readAt = -Infinity;

  const iso = (hour: number): string => new Date(hour * HOUR_MS).toISOString();
  const readHours = async (from: number, to: number): Promise<boolean> => {
    const read = await store.hours({ project, from: iso(from), to: iso(to) });
    for (const { hour, rows } of read.hours) if (rows) hours.set(hourOf(Date.parse(hour)), rows);
    return !read.is_behind;
  };
  const newest = async (from?: number): Promise<number | undefined> => {
    // Among all rows the newest is found at once, among those of a project by the hour that the sums name.
    const filter = from === undefined ? {} : { project, from: iso(from), to: iso(from + 1) };
    const [row] = await store.rows(filter, { limit: 1, newest: true });
    return row && Date.parse(row.received_at);
  };
  return async (): Promise<Arriving> => {
    let last = project === undefined ? await newest() : undefined;
    if (project === undefined && last === undefined) return { state: 'learning' };
    const end = hourOf(Math.min(now(), last ?? now())) + 1;
    // What is over is read anew each hour: rows expire and are erased.
    if (readAt !== hourOf(now()) || end - unread > 2) {
      [hours, unread] = [new Map(), end - PAST_HOURS];
      readAt = hourOf(now());
    }
    const isWhole = await readHours(unread, end);
    unread = end - 1;
    if (project !== undefined && hours.size) last = await newest(Math.max(...hours.keys()));
    if (last === undefined || !isWhole) return { state: 'learning' };
    return judgeArriving({ now: now(), last, hours });
  };
};
