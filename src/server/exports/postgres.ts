import type { Store } from '../store/port.js';
import type { Target } from './target.js';

/** A turn begins when its first row has waited for this long, or when there are this many rows. */
const WAIT = { ms: 1_000, rows: 1_000 };

const WORDS =
  'must be an address like postgres://user:password@host:5432/database, with a name of the database';

/** The name of a Postgres for people: host and database. */
const nameOf = (address: string): string => {
  const { host, pathname } = URL.canParse(address) ? new URL(address) : { host: '', pathname: '' };
  if (!/^\/[^/]+$/.test(pathname)) throw new Error(WORDS);
  return `${host || 'localhost'}${pathname}`;
};

/**
 * Fills another store, in a Postgres, with the rows of this one. It knows the ids of its rows, so it takes each once,
 * however often it is sent. Rows get places of their own there, so the two cannot be compared place by place.
 */
export const createPostgresTarget = (
  address: string,
  openStore: (address: string) => Promise<Store>,
): Target => {
  let opening: Promise<Store> | undefined;
  const open = (): Promise<Store> =>
    (opening ??= openStore(address).catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));

  return {
    name: nameOf(address),
    wait: WAIT,
    prepare: async () => void (await open()),
    fill: async ({ pages, from, mayWrite }) => {
      const there = await open();
      let place = from;
      for await (const page of pages) {
        await mayWrite();
        const rows = page.map(({ seq: _, ...row }) => row);
        await there.adopt({ rows });
        place = page.at(-1)!.seq;
      }
      return place;
    },
    erase: async (_, erasures) => {
      const there = await open();
      for (const { place: __, upto: ___, ...erased } of erasures) await there.erase(erased);
      return undefined;
    },
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
};
