import type { HealthWord } from '../health/health.js';
import type { Tell } from '../hooks.js';
import type { Setup } from '../setup.js';
import type { Looked, RowFilter, Store } from '../store/port.js';
import { storableText } from '../store/storable.js';
import { createBell, type Bell } from './bell.js';
import { createMatcher } from './create-matcher.js';
import { concerns } from './concerns.js';
import {
  eventText,
  newsFrom,
  newsText,
  type NewErasure,
  type NewRefused,
  type News,
} from './news.js';
import { arrivedAt, type Place } from './place.js';
import { createReader } from './reader.js';
import type { ReadingTrouble } from './reading-trouble.js';

/** How many rows and refused a page gets at once. */
const [FIRST_ROWS, FIRST_REFUSED] = [200, 50];
/** A page takes a line that is silent for 5 s for one of a process that stands still. */
const HEARTBEAT_MS = 2_000;
/** The shortest time between two words on the setup. A stranger can have any number of requests refused. */
const SETUP_MS = 100;
/** Pages and tools that may follow at a time. */
const MAX_FOLLOWERS = 200;

interface Parts {
  store: Pick<Store, 'rows' | 'search' | 'lastPlace' | 'refused' | 'progress' | 'follow'>;
  setup: Pick<Setup, 'state' | 'follow'>;
  tell: Tell;
  trouble: ReadingTrouble;
  health: HealthWord;
}

interface Wanted {
  filter: RowFilter;
  /** The place behind which a client goes on. */
  asked: Place | undefined;
  /** The only project that the client may see, whose name is then in the filter as well. */
  onlyProject: string | undefined;
  /** For how long the first rows are looked for at the most. Without it all rows are looked through. */
  lookMs: number | undefined;
}

/**
 * Server-sent events of rows, refused and erasures. A follower reads from the store until it has everything that is
 * there. From then on it takes the news that the reader has read for all followers. If its client is so slow that the
 * reader no longer has the next news, the follower reads from the store again.
 */
export const createFeed = ({ store, setup, tell, trouble, health }: Parts) => {
  const reader = createReader(store);
  const encoder = new TextEncoder();
  const ends = new Set<() => void>();
  let isEnding = false;
  /** Chunks of each news by filter. Followers at the same place with the same filter share them. */
  const chunksOfNews = new WeakMap<News, Map<string, Uint8Array>>();

  /** Whether a place is one of this store. Its row, like any other, may have been erased since. */
  const has = async ({ row, at }: Place): Promise<boolean> => {
    if (row > (await store.lastPlace())) return false;
    if (at === undefined) return true;
    const [found] = await store.rows({}, { after: row - 1, before: row + 1, limit: 1 });
    return !found || arrivedAt(found) === at;
  };

  /** Everything that a client gets, in chunks, until it is over. */
  async function* chunksFor(
    { filter, asked, onlyProject, lookMs }: Wanted,
    bell: Bell,
    isOver: () => boolean,
  ): AsyncGenerator<Uint8Array, void> {
    const matches = createMatcher(filter);
    const sees = ({ project }: NewRefused): boolean =>
      onlyProject === undefined || project === storableText(onlyProject);
    const hears = ({ erasure }: NewErasure): boolean => concerns(filter, erasure);
    const filterKey = JSON.stringify([filter, onlyProject]);
    const from = asked && (await has(asked)) ? asked : undefined;
    // What is erased from here on may be among the rows that are read below.
    const erased = from?.erased ?? (await store.progress.lastErasure());
    let place: Place = from ?? { row: 0, refused: 0, erased };
    let shownSetup = '';
    let looked: Looked | undefined;

    /** The setup, if it has changed. It tells of all projects. */
    const setupText = (): string => {
      if (onlyProject !== undefined) return '';
      const state = JSON.stringify(setup.state());
      if (state === shownSetup) return '';
      shownSetup = state;
      return eventText(place, 'setup', state);
    };
    const chunkOf = (news: News): Uint8Array => {
      const chunks = chunksOfNews.get(news) ?? new Map<string, Uint8Array>();
      chunksOfNews.set(news, chunks);
      const chunk =
        chunks.get(filterKey) ?? encoder.encode(newsText(news, place, { matches, sees, hears }));
      chunks.set(filterKey, chunk);
      return chunk;
    };
    /** Yields the news behind the place, a page at a time. The place also moves past rows that do not match. */
    async function* allNews(read: (from: Place) => News | Promise<News>) {
      for (let hasMore = true; hasMore;) {
        const news = await read(place);
        const chunk = chunkOf(news);
        place = news.behind;
        yield chunk;
        hasMore = news.hasMore;
      }
    }

    if (from) {
      // From the store, so that `ready` comes after everything that is stored by now.
      yield* allNews(reader.read);
    } else {
      // The place of the newest row is read first. A row that is stored between the two reads is then among the news.
      const [newest] = await store.rows({}, { limit: 1, newest: true });
      const before = (newest?.seq ?? 0) + 1;
      const found = await store.search(
        filter,
        { limit: FIRST_ROWS, newest: true, before },
        lookMs ?? Infinity,
      );
      const { rows } = found;
      if (lookMs !== undefined) looked = found.looked;
      const refused = await store.refused({ limit: FIRST_REFUSED, newest: true }, onlyProject);
      const first = newsFrom({ rows: rows.reverse(), refused: refused.reverse() }, place);
      const replaced = asked ? 'event: replaced\ndata: {}\n\n' : '';
      yield encoder.encode(replaced + newsText(first, place));
      place = first.behind;
      if (newest) place = { ...place, row: newest.seq, at: arrivedAt(newest) };
    }
    const ready = JSON.stringify({ onlyProject, looked });
    yield encoder.encode(setupText() + eventText(place, 'ready', ready));
    const leave = reader.follow(bell, place);
    try {
      for (;;) {
        await bell.rung();
        if (isOver()) return;
        yield* allNews((behind) => reader.shared(behind) ?? reader.read(behind));
        yield encoder.encode(setupText());
      }
    } finally {
      leave();
    }
  }

  return {
    isFull: (): boolean => isEnding || ends.size >= MAX_FOLLOWERS,
    /**
     * Rejects if the first rows cannot be read, so that the request can be answered 503. Waits for them until the first
     * heartbeat: a slow search gets its stream then, and heartbeats keep the line open.
     */
    open: async (wanted: Wanted): Promise<ReadableStream<Uint8Array>> => {
      const bell = createBell();
      let isOver = false;
      const chunks = chunksFor(wanted, bell, () => isOver);
      let soon: ReturnType<typeof setTimeout> | undefined;
      const ringSoon = (): void => {
        soon ??= setTimeout(() => {
          soon = undefined;
          bell.ring();
        }, SETUP_MS);
      };
      const stopSetup = setup.follow(ringSoon);
      const end = (): void => {
        isOver = true;
        bell.ring();
        clearInterval(heart);
        stopSetup();
        clearTimeout(soon);
        void chunks.return(); // after the chunk that is being made
        ends.delete(end);
        tell.metric('followers', ends.size);
      };
      let opened: ReadableStreamDefaultController<Uint8Array> | undefined;
      let beat = (): void => {};
      let saidHealth = '';
      /** A sign of life: the health if it has changed, else a comment. */
      const pulse = async (): Promise<void> => {
        const now = JSON.stringify(await health.ask(wanted.onlyProject));
        // A client that does not read gets no further heartbeats.
        if (!opened || opened.desiredSize! <= 0) return;
        // Without an id: the client stays at its place.
        const sign = now === saidHealth ? ': alive\n\n' : `event: health\ndata: ${now}\n\n`;
        saidHealth = now;
        opened.enqueue(encoder.encode(sign));
      };
      const heart = setInterval(() => {
        beat();
        void pulse();
      }, HEARTBEAT_MS);
      ends.add(end);
      tell.metric('followers', ends.size);
      const begin = async () => {
        const chunk = await chunks.next();
        trouble.worked();
        return chunk;
      };
      let first: ReturnType<typeof begin> | undefined = begin();
      try {
        await Promise.race([first, new Promise<void>((resolve) => (beat = resolve))]);
      } catch (error) {
        end();
        throw error;
      }
      return new ReadableStream<Uint8Array>({
        start: (controller) => {
          opened = controller;
          void pulse();
        },
        /** Called only while the client reads, so a slow client fills no memory. */
        pull: async (controller) => {
          try {
            for (;;) {
              const { done, value } = await (first ?? chunks.next());
              first = undefined;
              if (done) return controller.close();
              if (value.length) return controller.enqueue(value);
            }
          } catch (error) {
            if (!isOver) trouble.failed('GET /rows', error);
            end();
            controller.close(); // the client connects again, and goes on at its place
          }
        },
        cancel: end,
      });
    },
    /** Ends all streams, and refuses new ones. */
    end: (): void => {
      isEnding = true;
      [...ends].forEach((end) => end());
    },
  };
};

export type Feed = ReturnType<typeof createFeed>;
