import { messageOf } from '../../util/errors.js';
import type { Adopted, Profile, Refused, Row, Store } from './port.js';

/** How far a copy has come. */
export interface CopyProgress {
  part: 'rows' | 'profiles' | 'refused';
  /** How many of this part were read so far. */
  read: number;
  /**
   * How many of these were new to the other store. Profiles are merged, and not counted. Rows and profiles that the
   * other database has refused are counted among the refused.
   */
  added: number;
}

export interface CopyOptions {
  /** Called after each batch with the progress of the copy. */
  onProgress?: ((progress: CopyProgress) => void) | undefined;
}

const BATCH = 1_000;
/** A profile may be as large as several rows, and takes more memory. */
const PROFILES = 100;

/**
 * Copies the whole content of a store into another one: rows with their times and arrivals, profiles, and the refused.
 * Anything that is there already is skipped, so a copy can be run again if it broke off or if records were stored
 * meanwhile. Rows get new places in the feed, in the same order.
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

  /** Reads page by page, and gives each to `adopt`. */
  const copy = async <Item>(
    part: CopyProgress['part'],
    readPage: (last: Item | undefined) => Promise<Item[]>,
    adopt: (page: Item[]) => Promise<Adopted>,
  ): Promise<void> => {
    let read = 0;
    try {
      for (let page = await readPage(undefined); page.length; page = await readPage(page.at(-1))) {
        const { rows, refused } = await adopt(page);
        added.rows += rows;
        added.refused += refused;
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
