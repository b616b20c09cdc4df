import { isErased } from '../../interface/is-erased.js';
import type { Store } from '../store/port.js';
import { createBell, type Bell } from './bell.js';
import {
  newsOf,
  readNews,
  type NewErasure,
  type News,
  type NewRefused,
  type NewRow,
} from './news.js';
import { furthest, idOf, type Place } from './place.js';
import { createTail } from './tail.js';

/** No news is kept for longer than twice this time. */
const AGE_MS = 10_000;
/** The shortest time between two reads. Rows that arrive one by one are read and sent in groups. */
const PAUSE_MS = 100;

type ReadableStore = Pick<Store, 'rows' | 'refused' | 'progress' | 'follow'>;

/** Reads the news behind a place, until it is ended or the store fails. `told` is called after each page with news. */
const startReading = (
  store: ReadableStore,
  from: Place,
  { told, failed }: { told: () => void; failed: (error: unknown) => void },
) => {
  const rows = createTail<NewRow>(from.row);
  const refused = createTail<NewRefused>(from.refused);
  const erased = createTail<NewErasure>(from.erased);
  /** The news behind each place that was asked for since the last page. Most followers are at the same place. */
  const known = new Map<string, News>();
  const bell = createBell();
  let place = from;
  let isOver = false;

  const readOn = async (): Promise<void> => {
    for (let hasMore = true; hasMore && !isOver;) {
      const news = await readNews(store, place);
      place = news.behind;
      if (news.erased.length)
        rows.remove(({ row }) => news.erased.some(({ erasure }) => isErased(row, erasure)));
      rows.add(news.rows);
      refused.add(news.refused);
      erased.add(news.erased);
      known.clear();
      if ([news.rows, news.refused, news.erased].some(({ length }) => length)) told();
      hasMore = news.hasMore;
    }
  };
  const run = async (): Promise<void> => {
    while (!isOver) {
      await readOn();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      await bell.rung();
    }
  };

  const stop = store.follow(bell.ring);
  const aging = setInterval(() => {
    rows.age();
    refused.age();
    erased.age();
    known.clear();
  }, AGE_MS);
  run().catch((error: unknown) => isOver || failed(error));

  return {
    /** Everything up to this place was read. */
    place: (): Place => place,
    /** The next news behind a place, or undefined if some of them are no longer kept. */
    behind: (asked: Place): News | undefined => {
      const id = idOf(asked);
      const news = known.get(id);
      if (news) return news;
      const some = rows.behind(asked.row);
      const others = refused.behind(asked.refused);
      const gone = erased.behind(asked.erased);
      if (!some || !others || !gone) return undefined;
      known.set(id, newsOf({ rows: some, refused: others, erased: gone }, asked));
      return known.get(id);
    },
    end: (): void => {
      isOver = true;
      bell.ring();
      stop();
      clearInterval(aging);
    },
  };
};

/**
 * Reads news from the store once for all followers, and keeps the last 2,000 rows. It reads only while there are
 * followers.
 */
export const createReader = (store: ReadableStore) => {
  const followers = new Set<Bell>();
  let reading: ReturnType<typeof startReading> | undefined;

  const end = (): void => {
    reading?.end();
    reading = undefined;
  };

  return {
    /** Rings the bell when there may be news, until the returned function is called. The bell fails if the store does. */
    follow: (bell: Bell, from: Place): (() => void) => {
      reading ??= startReading(store, from, {
        told: () => followers.forEach(({ ring }) => ring()),
        failed: (error) => {
          end();
          followers.forEach(({ fail }) => fail(error));
          followers.clear();
        },
      });
      followers.add(bell);
      bell.ring(); // for news that were read after the follower's own last read
      return () => {
        followers.delete(bell);
        if (!followers.size) end();
      };
    },
    /** Reads the next news behind a place for one follower alone. */
    read: async (from: Place): Promise<News> => {
      const reached = reading?.place();
      const news = await readNews(store, from);
      // Nothing else can come before the reader's place, even if the last rows that it read are erased by now.
      const behind = reached && !news.hasMore ? furthest(news.behind, reached) : news.behind;
      return { ...news, behind };
    },
    /** The next news behind a place as all followers share them, or undefined if some are no longer kept. */
    shared: (from: Place): News | undefined => reading?.behind(from),
  };
};
