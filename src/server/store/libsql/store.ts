import { callback, text } from '../../../interface/kinds.js';
import { checkOptions } from '../../check-options.js';
import type { Incoming } from '../../incoming.js';
import { incomingOf, lettersOf, refusedProfileOf } from '../dead-letter.js';
import { createGroups } from '../groups.js';
import { startSumming } from '../hours.js';
import type { Count, Store, Written } from '../port.js';
import { storable, storableText, tellReplaced } from '../storable.js';
import { openConnections } from './connections.js';
import { createHourWriter, readHours } from './hours.js';
import { createNotice } from './notice.js';
import { createProfileWriter, readProfiles } from './profiles.js';
import { createRefusedReader, createRefusedWriter } from './refused.js';
import { createRowReader } from './rows.js';
import { createRowWriter } from './write-rows.js';

export interface LibsqlStoreOptions {
  /** Of `createLibsqlStore`: the file, which is made with its folder; processes of one machine may share it. */
  path: string;
  /** Called with the number of records in which NUL or half a character was replaced by U+FFFD. */
  onReplaced?: ((records: number) => void) | undefined;
}

/** Rows of a user that one transaction erases at the most, so that it holds up no other work for long. */
const ERASE_ROWS = 5_000;

/** Keeps records in one file of this machine. */
export const createLibsqlStore = (options: LibsqlStoreOptions): Store => {
  checkOptions('createLibsqlStore', options, {
    kinds: { path: text, onReplaced: callback },
    required: ['path'],
  });
  const { path, onReplaced } = options;
  const { reader, writer, transaction, close } = openConnections(path);
  const notice = createNotice(reader);
  const profiles = createProfileWriter(writer);
  const hours = createHourWriter(writer);
  const rows = createRowWriter(writer, profiles, hours);
  const refused = createRefusedWriter(writer);
  const readRefused = createRefusedReader(reader);
  // Kept by AUTOINCREMENT: https://www.sqlite.org/autoinc.html
  const lastPlace = reader.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'records'");
  const counts = reader.prepare(
    'SELECT project, type, rows FROM counts WHERE rows > 0 ORDER BY project, type',
  );

  const run = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = await transaction(work);
    notice.tell();
    return result;
  };
  const writes = createGroups<Incoming, Written>({
    run: (records) =>
      run(async () => {
        const written = await rows.write(records);
        await refused.put(lettersOf(records, written));
        return written;
      }),
    lanes: 1,
  });

  const isWhole = !reader.prepare('SELECT 1 FROM summing').all().length;
  const endSumming = isWhole ? async () => {} : startSumming(() => transaction(hours.sumPiece));

  return {
    write: async (records) => {
      if (!records.length) return [];
      const good = records.map(storable);
      const written = await writes.add(good);
      tellReplaced(records, good, onReplaced);
      return written;
    },
    // SQLite writes this even if it is 0 already. An empty transaction would succeed even with a full disk or a
    // read-only file.
    check: () => transaction(() => writer.exec('PRAGMA application_id = 0')),
    refuse: async (all) => void (await run(() => refused.put(all))),
    rows: createRowReader(reader),
    lastPlace: async () => (lastPlace.all() as { seq: number }[])[0]?.seq ?? 0,
    refused: async (span, project) => readRefused.read(span, project),
    resend: (seqs) => run(() => refused.resend(seqs, rows.write)),
    purge: (seqs) => run(() => refused.purge(seqs)),
    dead: async (seqs) => readRefused.dead(seqs),
    profiles: async (filter, page) => readProfiles(reader, filter, page),
    counts: async () => counts.all() as Count[],
    hours: (filter) => readHours(reader, filter),
    countRefused: async (project) => readRefused.count(project),
    erase: async (project, userId) => {
      const user = [storableText(project), storableText(userId)] as const;
      /** Erases some rows, and after the last of them the profile and the refused. */
      const eraseSome = async (): Promise<number> => {
        const erased = await rows.removeOfUser(...user, ERASE_ROWS);
        if (erased === ERASE_ROWS) return erased;
        await profiles.remove({ project: user[0], user_id: user[1] });
        await refused.removeOfUser(...user);
        return erased;
      };
      let all = 0;
      for (let erased = ERASE_ROWS; erased === ERASE_ROWS; all += erased)
        erased = await run(eraseSome);
      return all;
    },
    expire: (before, limit) =>
      run(async () => {
        await refused.removeBefore(before);
        return (
          (await rows.removeBefore(before, limit)) + (await profiles.removeBefore(before, limit))
        );
      }),
    adopt: ({ rows: given = [], profiles: kept = [], refused: others = [] }) =>
      run(async () => {
        const merged = await profiles.merge(kept);
        const broken = [...merged.refused].map(([n, words]) => refusedProfileOf(kept[n]!, words));
        await refused.adopt(broken);
        const records = given.map((row) => ({ ...incomingOf(row), arrivals: row.arrivals }));
        const { added, written } = await rows.adopt(records);
        const letters = lettersOf(records, written);
        return added + (await refused.adopt(letters)) + (await refused.adopt(others));
      }),
    follow: notice.follow,
    clear: () =>
      run(async () => {
        for (const table of ['records', 'counts', 'hours', 'summing', 'profiles', 'refused'])
          await writer.exec(`DELETE FROM ${table}`);
      }),
    close: async () => {
      notice.end();
      await endSumming();
      await writes.whenIdle();
      await close();
    },
  };
};
