import type { Tell } from '../hooks.js';
import type { Setup } from '../setup.js';
import type { Refused, Row, RowFilter, Store } from '../store/port.js';
import { createMatcher } from './create-matcher.js';
import type { ReadingTrouble } from './reading-trouble.js';

/** What a page gets at once. */
const [FIRST_ROWS, FIRST_REFUSED] = [200, 50];
/** Rows read at a time after that. */
const PAGE = 500;
/** A proxy closes what is silent for longer. */
const HEARTBEAT_MS = 15_000;
/** Pages and tools that may follow at a time. */
const MAX_FOLLOWERS = 200;

/** Places in the feeds of rows and of the refused: what an event's `id` says. */
interface Place {
  row: number;
  refused: number;
  /** When that row arrived, in milliseconds: another store has another row at the same place. */
  at?: number | undefined;
}

/** The place behind which a client goes on, or undefined where the text is none. */
export const readPlace = (text: string | null | undefined): Place | undefined => {
  const [, row, refused = '0', at] =
    /^(\d{1,15})(?:\.(\d{1,15}))?(?:\.(\d{1,15}))?$/.exec(text ?? '') ?? [];
  if (row === undefined) return undefined;
  return { row: Number(row), refused: Number(refused), at: at === undefined ? at : Number(at) };
};

const timeOf = ({ received_at }: Row): number => Date.parse(received_at);

interface Parts {
  store: Pick<Store, 'rows' | 'lastPlace' | 'refused' | 'follow'>;
  setup: Pick<Setup, 'state' | 'follow'>;
  tell: Tell;
  trouble: ReadingTrouble;
}

/** A wait that ends when something has happened, however often, since it was last asked. */
const createBell = () => {
  let isRung = false;
  let wake = (): void => {};
  return {
    ring: (): void => {
      isRung = true;
      wake();
    },
    rung: async (): Promise<void> => {
      if (!isRung) await new Promise<void>((resolve) => (wake = resolve));
      isRung = false;
    },
  };
};

/** Server-sent events of what is stored and refused. https://html.spec.whatwg.org/#server-sent-events */
export const createFeed = ({ store, setup, tell, trouble }: Parts) => {
  const ends = new Set<() => void>();
  let isEnding = false;

  /** Whether the store is the one that gave a place. Its row, and any other, may have been erased since. */
  const has = async ({ row, at }: Place): Promise<boolean> => {
    if (row > (await store.lastPlace())) return false;
    if (at === undefined) return true;
    const [found] = await store.rows({}, { after: row - 1, before: row + 1, limit: 1 });
    return !found || timeOf(found) === at;
  };

  /** All that a client gets, in chunks of text, until it is over. */
  async function* chunksOf(
    filter: RowFilter,
    asked: Place | undefined,
    bell: ReturnType<typeof createBell>,
    isOver: () => boolean,
  ): AsyncGenerator<string> {
    const matches = createMatcher(filter);
    const from = asked && (await has(asked)) ? asked : undefined;
    const place: Place = from ?? { row: 0, refused: 0 };
    const moveTo = (row: Row | undefined): void => {
      if (row && row.seq > place.row) [place.row, place.at] = [row.seq, timeOf(row)];
    };
    const id = (): string =>
      `id: ${place.row}.${place.refused}${place.at === undefined ? '' : `.${place.at}`}\n`;
    const event = (name: string, data: unknown): string =>
      `${id()}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    const rowEvent = (row: Row): string => {
      moveTo(row);
      return event('row', row);
    };
    const refusedEvent = (one: Refused): string => {
      place.refused = Math.max(place.refused, one.seq);
      return event('refused', one);
    };

    let shown = '';
    /** The setup, where it has changed. */
    const setupEvent = (): string => {
      const state = JSON.stringify(setup.state());
      if (state === shown) return '';
      shown = state;
      return event('setup', setup.state());
    };
    /** What is new, a page at a time. Every row is read and looked at here, so the place moves on. */
    async function* news(): AsyncGenerator<string> {
      for (;;) {
        const rows = await store.rows({}, { after: place.row, limit: PAGE });
        let text = '';
        for (const row of rows) {
          if (matches(row)) text += rowEvent(row);
          moveTo(row);
        }
        if (text) yield text;
        if (rows.length < PAGE || isOver()) break;
      }
      const refused = await store.refused({ after: place.refused, limit: PAGE });
      if (refused.length) yield refused.map(refusedEvent).join('');
      if (refused.length === PAGE) bell.ring();
    }

    if (!from) {
      // The newest row of all before the newest that match: one that comes between is among the news.
      const [newest] = await store.rows({}, { limit: 1, newest: true });
      const rows = await store.rows(filter, {
        ...{ limit: FIRST_ROWS, newest: true },
        before: (newest?.seq ?? 0) + 1,
      });
      const refused = await store.refused({ limit: FIRST_REFUSED, newest: true });
      yield (
        (asked ? 'event: replaced\ndata: {}\n\n' : '') +
        [...rows].reverse().map(rowEvent).join('') +
        [...refused].reverse().map(refusedEvent).join('')
      );
      moveTo(newest);
    } else {
      yield* news();
    }
    yield setupEvent() + event('ready', {});
    while (!isOver()) {
      await bell.rung();
      if (isOver()) return;
      yield* news();
      yield setupEvent();
    }
  }

  return {
    isFull: (): boolean => isEnding || ends.size >= MAX_FOLLOWERS,
    /**
     * Rejects if the first rows cannot be read, so that the request can be answered 503. Waits for them until the first
     * heartbeat: a slow search gets its stream then, and heartbeats keep the line open.
     */
    open: async (
      filter: RowFilter,
      from: Place | undefined,
    ): Promise<ReadableStream<Uint8Array>> => {
      const encoder = new TextEncoder();
      const bell = createBell();
      let isOver = false;
      const stops = [store.follow(bell.ring), setup.follow(bell.ring)];
      const chunks = chunksOf(filter, from, bell, () => isOver);
      const end = (): void => {
        isOver = true;
        bell.ring();
        clearInterval(heart);
        stops.forEach((stop) => stop());
        ends.delete(end);
        tell.metric('followers', ends.size);
      };
      let opened: ReadableStreamDefaultController<Uint8Array> | undefined;
      let beat = (): void => {};
      const heart = setInterval(() => {
        beat();
        // One who does not read gets no more of them.
        if (opened && opened.desiredSize! > 0) opened.enqueue(encoder.encode(': alive\n\n'));
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
        start: (controller) => void (opened = controller),
        /** Asked for only while the client reads, so one that is slow fills no memory. */
        pull: async (controller) => {
          try {
            for (;;) {
              const { done, value } = await (first ?? chunks.next());
              first = undefined;
              if (done) return controller.close();
              if (!value) continue;
              return controller.enqueue(encoder.encode(value));
            }
          } catch (error) {
            if (!isOver) trouble.failed('GET /rows', error);
            end();
            controller.close(); // the client comes again, and goes on where it was
          }
        },
        cancel: end,
      });
    },
    /** Ends all of them, and refuses new ones. */
    end: (): void => {
      isEnding = true;
      [...ends].forEach((end) => end());
    },
  };
};

export type Feed = ReturnType<typeof createFeed>;
