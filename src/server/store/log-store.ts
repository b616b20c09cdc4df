import type { Incoming } from '../incoming.js';
import { createAppender } from './append.js';
import { number, type Database } from './database.js';
import { arrivedOf, lettersOf, refusedProfileOf, resentOf } from './dead-letter.js';
import { createErasures } from './erasures.js';
import { createFilters } from './filter.js';
import { createGroups } from './groups.js';
import { createLooking } from './looking.js';
import type { Adopted, Behind, Held, NewRefused, Profile, Resent, Store, Written } from './port.js';
import { createOutages } from './outages.js';
import { createProfiles } from './profiles.js';
import { SERVICE } from './parked.js';
import { createProgress } from './progress.js';
import { createReader, type ReaderName } from './reader.js';
import { createRefused } from './refused.js';
import { createRefusedCounts } from './refused-counts.js';
import { createRowReader } from './rows.js';
import { createSteps } from './steps.js';
import { storable, tellReplaced } from './storable.js';
import { createSums } from './sums.js';
import { createUsers } from './users.js';

interface Options {
  onReplaced?: ((records: number) => void) | undefined;
}

/**
 * Makes a store over an engine. Its rows are a log: `write` appends to it, and two readers follow, each behind a place of
 * its own. One sums the rows, the other merges the identifies into profiles.
 */
export const createLogStore = (
  database: Database,
  { onReplaced }: Options,
): Store & { started: Promise<unknown> } => {
  const { table, read, wordsOfRefusal, told } = database;
  const appender = createAppender(database);
  const refused = createRefused(database);
  const refusedCounts = createRefusedCounts(database);
  const sums = createSums(database);
  const profiles = createProfiles(database);
  const parts = { database, refuse: refused.leaveOut };
  const filters = createFilters(database);
  const steps = createSteps(database);
  const outages = createOutages(database, steps);
  const reader = createRowReader(database, filters, steps);
  const progress = createProgress(database, refused);
  const readers = {
    sums: createReader({ ...parts, name: 'sums', prepare: sums.prepare }),
    profiles: createReader({ ...parts, name: 'profiles', prepare: profiles.prepare }),
  };
  const lastPlace = async (): Promise<number> =>
    (await read<{ place: number }>(database.lastPlace))[0]!.place;
  const erasures = createErasures({
    ...{ database, steps: steps.steps, readers, sums, lastPlace, done: told },
    removeProfile: profiles.remove,
    removeRefused: refused.removeOfUser,
  });
  const writes = createGroups<Incoming, Written>({ run: appender.append, lanes: database.lanes });

  /** Has others look at what is new. */
  const ring = (): void => {
    told();
    for (const reader of Object.values(readers)) reader.ring();
  };
  const refuse = async (given: readonly NewRefused[]): Promise<void> => {
    if (!given.length) return;
    await refused.refuse(given);
    told();
  };
  /** Halves the profiles until one that the database refuses is alone, and returns these. */
  const adoptProfiles = async (all: readonly Profile[]): Promise<NewRefused[]> => {
    if (!all.length) return [];
    try {
      await profiles.adopt(all, readers.profiles);
      return [];
    } catch (error) {
      const message = wordsOfRefusal(error);
      if (message === undefined) throw error;
      if (all.length === 1) return [refusedProfileOf(all[0]!, message)];
      const half = Math.ceil(all.length / 2);
      const broken = await adoptProfiles(all.slice(0, half));
      return [...broken, ...(await adoptProfiles(all.slice(half)))];
    }
  };
  const resendRecords = async (seqs: readonly number[]): Promise<Resent[]> => {
    const letters = await refused.dead(seqs);
    if (!letters.length) return [];
    const written = await writes.add(letters.map(({ record }) => record));
    return letters.map(({ seq }, index) => resentOf(seq, written[index]!));
  };
  const resendLeftOut = async (seqs: readonly number[]): Promise<Resent[]> => {
    const resent: Resent[] = [];
    for (const { seq, reader, place, ...known } of await refused.leftOut(seqs)) {
      const again = reader === SERVICE ? progress.parked : readers[reader as ReaderName];
      // Other targets are written to by `export verify`.
      const message = again ? await again.again(place) : known.message;
      resent.push(
        message === undefined ? { seq, outcome: 'stored' } : { seq, outcome: 'dead', message },
      );
    }
    return resent;
  };

  return {
    started: erasures.started(),
    write: async (records) => {
      if (!records.length) return [];
      const clean = records.map(storable);
      const written = await writes.add(clean);
      if (written.some(({ outcome }) => outcome === 'stored')) ring();
      tellReplaced(records, clean, onReplaced);
      await refuse(lettersOf(clean, written));
      return written;
    },
    check: database.check,
    room: database.room,
    refuse,
    rows: reader.rows,
    ...createLooking({ database, filters, steps, reader, sums }),
    users: createUsers({ database, steps, reader, sums, profiles, lastPlace }),
    lastPlace,
    refused: refused.read,
    resend: async (seqs) => {
      const resent = [...(await resendRecords(seqs)), ...(await resendLeftOut(seqs))];
      if (!resent.length) return [];
      for (const one of resent)
        if (one.outcome === 'dead') await refused.rename(one.seq, one.message);
      await refused.remove(
        resent.filter(({ outcome }) => outcome !== 'dead').map(({ seq }) => seq),
      );
      ring();
      return resent;
    },
    purge: refused.purge,
    dead: refused.dead,
    profiles: profiles.read,
    counts: sums.counts,
    hours: sums.hours,
    countRefused: refused.count,
    addRefused: refusedCounts.add,
    refusedHours: refusedCounts.read,
    addOutage: outages.add,
    outages: outages.read,
    countLater: outages.countLater,
    erase: erasures.erase,
    countErased: erasures.countErased,
    expire: erasures.expire,
    expireRefused: async (before) => {
      await refused.expire(before);
      await refusedCounts.expire(before);
      await outages.expire(before);
      await sums.expireRepeats(before);
    },
    expireProfiles: (before, limit) => profiles.expire(before, limit, readers.profiles),
    adopt: async ({
      rows = [],
      profiles: given = [],
      refused: others = [],
    }: Held): Promise<Adopted> => {
      const broken = await adoptProfiles(given);
      const records = rows.map((row) => storable(arrivedOf(row)));
      const written = await appender.adopt(records);
      const all = [...broken, ...lettersOf(records, written), ...others];
      const adopted = {
        rows: written.filter(({ outcome }) => outcome === 'stored').length,
        refused: await refused.adopt(all),
      };
      if (adopted.rows || adopted.refused) ring();
      return adopted;
    },
    behind: async () => {
      const rows = await read<Omit<Behind, 'problem'> & { reader: ReaderName }>(
        `SELECT name AS reader, ${number(
          `(SELECT count(*) FROM (SELECT 1 FROM ${table('records')}
          WHERE seq > readers.place ORDER BY seq LIMIT 10000) AS behind)`,
          'rows',
        )} FROM ${table('readers')} ORDER BY name`,
      );
      return rows.map((row) => ({ ...row, problem: readers[row.reader].problem() }));
    },
    follow: database.follow,
    progress,
    close: async () => {
      await Promise.all([erasures.end(), ...Object.values(readers).map((reader) => reader.end())]);
      await writes.whenIdle();
      await refused.whenIdle();
      await database.close();
    },
  };
};
