import { messageOf } from '../../interface/errors.js';
import type { Profile, Refused, Row, Store } from './port.js';

/** How far a copy has come. */
export interface CopyProgress {
  part: 'rows' | 'profiles' | 'refused';
  /** Read so far of this part. */
  read: number;
  /** Of these, what the other store did not have. Profiles are merged, and not counted. */
  added: number;
}

export interface CopyOptions {
  /** Hears after each batch how far the copy has come. */
  onProgress?: ((progress: CopyProgress) => void) | undefined;
}

const BATCH = 1_000;
/** A profile may be as large as several rows, and takes more memory. */
const PROFILES = 100;

/**
 * Copies all that a store holds into another one: rows with their times and arrivals, profiles, and what was refused.
 * What is there already is passed over, so a copy that broke off can be run again, and so can one of a store that is
 * still written to. Rows get new places in the feed, in the same order.
 *
 * @example
 * await copyStore(createLibsqlStore({ path }), await createPostgresStore({ url }));
 */
export const copyStore = async (
  from: Store,
  to: Store,
  { onProgress }: CopyOptions = {},
): Promise<Record<CopyProgress['part'], number>> => {
  const added = { rows: 0, profiles: 0, refused: 0 };

  /** Reads page by page, and gives each to `adopt`, which answers how much of it was new. */
  const copy = async <Item>(
    part: CopyProgress['part'],
    readPage: (last: Item | undefined) => Promise<Item[]>,
    adopt: (page: Item[]) => Promise<number>,
  ): Promise<void> => {
    let read = 0;
    try {
      for (let page = await readPage(undefined); page.length; page = await readPage(page.at(-1))) {
        added[part] += await adopt(page);
        read += page.length;
        onProgress?.({ part, read, added: added[part] });
      }
    } catch (error) {
      const words = `the copy broke off after ${read} ${part}, and can be run again: ${messageOf(error)}`;
      throw new Error(words, { cause: error });
    }
  };

  await copy<Row>(
    'rows',
    (last) => from.rows({}, { after: last?.seq, limit: BATCH }),
    (rows) => to.adopt({ rows }),
  );
  await copy<Profile>(
    'profiles',
    (after) => from.profiles({}, { after, limit: PROFILES }),
    (profiles) => to.adopt({ profiles }),
  );
  await copy<Refused>(
    'refused',
    (last) => from.refused({ after: last?.seq, limit: BATCH }),
    async (refused) => {
      const dead = await from.dead(refused.flatMap(({ seq, isDead }) => (isDead ? [seq] : [])));
      const records = new Map(dead.map(({ seq, record }) => [seq, record]));
      return to.adopt({
        refused: refused.map((one) => ({ ...one, record: records.get(one.seq) })),
      });
    },
  );
  return added;
};
