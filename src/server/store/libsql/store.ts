import { callback, text } from '../../../interface/kinds.js';
import { checkOptions } from '../../check-options.js';
import { openFile } from '../../queue/libsql/file.js';
import { deadLetterOf, incomingOf, refusedProfileOf } from '../dead-letter.js';
import type { Incoming } from '../../incoming.js';
import type { Count, Held, NewRefused, Profile, Row, Store, Written } from '../port.js';
import { storable, storableText, tellReplaced } from '../storable.js';
import { createNotice } from './notice.js';
import { createProfiles } from './profiles.js';
import { createRefused } from './refused.js';
import { createRowReader } from './rows.js';
import { TABLES } from './schema.js';
import { createWriter } from './write.js';

export interface LibsqlStoreOptions {
  /** Of `createLibsqlStore`: the file, which is made with its folder; processes of one machine may share it. */
  path: string;
  /** Called with the number of records in which NUL or half a character was replaced by U+FFFD. */
  onReplaced?: ((records: number) => void) | undefined;
}

/** What one transaction erases of a user at the most, so that it holds up no other work for long. */
const ERASE_ROWS = 5_000;

/** Keeps records in one file of this machine. */
export const createLibsqlStore = (options: LibsqlStoreOptions): Store => {
  checkOptions('createLibsqlStore', options, {
    kinds: { path: text, onReplaced: callback },
    required: ['path'],
  });
  const { path, onReplaced } = options;
  const file = openFile(path, TABLES, (jobs) => profiles.inOnePiece(jobs));
  const { database, prepare } = file;
  const profiles = createProfiles(database);
  const notice = createNotice(database);
  const writer = createWriter(database, profiles);
  const readRows = createRowReader(database);
  const refused = createRefused(database);
  // Kept by AUTOINCREMENT: https://www.sqlite.org/autoinc.html
  const lastPlace = prepare("SELECT seq FROM sqlite_sequence WHERE name = 'rows'");
  const eraseRows = prepare(
    'DELETE FROM rows WHERE seq IN (SELECT seq FROM rows WHERE project = ? AND user_id = ? LIMIT ?)',
  );
  const expireRows = prepare(
    'DELETE FROM rows WHERE seq IN (SELECT seq FROM rows WHERE received_at < ? ORDER BY received_at LIMIT ?)',
  );

  const run = async <Result>(work: () => Result): Promise<Result> => {
    const result = await file.runIfThere(work);
    notice.tell();
    return result;
  };

  const write = (record: Incoming): Written => {
    const written = writer.write(record);
    if (written.outcome === 'dead') refused.put(deadLetterOf(record, written.message));
    return written;
  };
  /** Answers whether it was new. */
  const adopt = (row: Omit<Row, 'seq'>): boolean => {
    const written = writer.adopt(row);
    if (written.outcome !== 'dead') return written.outcome === 'stored';
    return refused.adopt(deadLetterOf(incomingOf(row), written.message));
  };
  const adoptProfile = (profile: Profile): void => {
    const written = writer.adoptProfile(profile);
    if (written.outcome === 'dead') refused.adopt(refusedProfileOf(profile, written.message));
  };

  return {
    write: async (records) => {
      const good = records.map(storable);
      const results = await run(() => good.map(write));
      tellReplaced(records, good, onReplaced);
      return results;
    },
    // SQLite writes it even if it is 0 already. An empty transaction would pass on a full disk or a read-only file.
    check: () => file.runIfThere(() => void database.exec('PRAGMA application_id = 0')),
    refuse: (all: readonly NewRefused[]) => run(() => all.forEach(refused.put)),
    rows: readRows,
    lastPlace: async () => {
      const [row] = lastPlace.all() as { seq: number }[];
      return row?.seq ?? 0;
    },
    refused: async (span) => refused.read(span),
    resend: (seqs) => run(() => seqs.flatMap((seq) => refused.resend(seq, writer.write) ?? [])),
    purge: (seqs) => run(() => refused.purge(seqs)),
    dead: async (seqs) => refused.dead(seqs),
    profiles: async (filter, page) => profiles.read(filter, page),
    counts: async () =>
      prepare(
        'SELECT project, type, rows FROM counts WHERE rows > 0 ORDER BY project, type',
      ).all() as Count[],
    countRefused: async () => refused.count(),
    erase: async (project, userId) => {
      const user = [storableText(project), storableText(userId)] as const;
      let erased = 0;
      for (;;) {
        const { changes } = await run(() => eraseRows.run(...user, ERASE_ROWS));
        erased += changes;
        if (changes < ERASE_ROWS) break;
      }
      await run(() => {
        profiles.remove({ project: user[0], user_id: user[1] });
        refused.removeOfUser(...user);
      });
      return erased;
    },
    expire: (before, limit) =>
      run(() => {
        refused.removeBefore(before, limit);
        return expireRows.run(before, limit).changes + profiles.removeBefore(before, limit);
      }),
    adopt: ({ rows = [], profiles: kept = [], refused: others = [] }: Held) =>
      run(() => {
        kept.forEach(adoptProfile);
        return rows.filter(adopt).length + others.filter(refused.adopt).length;
      }),
    follow: notice.follow,
    clear: () =>
      run(() => {
        ['rows', 'counts', 'refused'].forEach((table) => database.exec(`DELETE FROM ${table}`));
        profiles.clear();
      }),
    close: async () => {
      notice.end();
      file.close();
    },
  };
};
