import { callback, text } from '../../../interface/kinds.js';
import { checkOptions } from '../../check-options.js';
import { checkRoom } from './file.js';
import type { Incoming } from '../../incoming.js';
import { arrivedOf, lettersOf, refusedProfileOf } from '../dead-letter.js';
import { createErasures } from '../erasures.js';
import { createGroups } from '../groups.js';
import { startSumming } from '../hours.js';
import type { Count, Store, Written } from '../port.js';
import { createProgress, type PlainStatement, type ProgressDatabase } from '../progress.js';
import { hasEnded, ownProcess } from '../process-name.js';
import { storable, tellReplaced } from '../storable.js';
import { openConnections, type Statement } from './connections.js';
import { createErasureFinder, createErasureWriter } from './erase.js';
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

/** SQLite writes the number of a value behind a question mark. */
const numbered = (sql: string): string => sql.replace(/\$(\d)/g, '?$1');

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

  const prepared = new Map<string, Statement>();
  const ask = <Row>(...[sql, ...values]: PlainStatement) => {
    const statement = prepared.get(sql) ?? writer.prepare(numbered(sql));
    prepared.set(sql, statement);
    return statement<Row>(...values);
  };
  const progressDatabase: ProgressDatabase = {
    ...{ ownProcess, hasEnded },
    table: (name) => name,
    now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    each: (parameter, name = 'each') => `json_each(${parameter}) AS ${name}`,
    iso: (column) => column,
    read: async <Row>(sql: string, ...values: unknown[]) =>
      reader.prepare<unknown[]>(numbered(sql)).all(...values) as Row[],
    run: <Row>(...statements: readonly PlainStatement[]) =>
      transaction(async () => {
        let rows: Row[] = [];
        for (const statement of statements) rows = await ask<Row>(...statement);
        return rows;
      }),
    transaction: (work) => transaction(() => work(ask)),
  };
  const progress = createProgress(progressDatabase);

  const placeNow = async (): Promise<number> => (lastPlace.all() as { seq: number }[])[0]?.seq ?? 0;
  const begin = createErasureWriter(writer, profiles, progressDatabase.now);
  const erasures = createErasures({
    ...progressDatabase,
    begin: (erased, upto) => transaction(() => begin(erased, upto)),
    find: createErasureFinder(reader),
    remove: (places) => transaction(() => rows.remove(places)),
    removeRefused: (project, userId) => transaction(() => refused.removeOfUser(project, userId)),
    lastPlace: placeNow,
    done: notice.tell,
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
    check: async ({ asksForRoom = false } = {}) => {
      if (asksForRoom) await checkRoom(path);
      await transaction(() => writer.exec('PRAGMA application_id = 0'));
    },
    refuse: async (all) => void (await run(() => refused.put(all))),
    rows: createRowReader(reader),
    lastPlace: placeNow,
    refused: async (span, project) => readRefused.read(span, project),
    resend: (seqs) => run(() => refused.resend(seqs, rows.write)),
    purge: (seqs) => run(() => refused.purge(seqs)),
    dead: async (seqs) => readRefused.dead(seqs),
    profiles: async (filter, page) => readProfiles(reader, filter, page),
    counts: async () => counts.all() as Count[],
    hours: (filter) => readHours(reader, filter),
    countRefused: async (project) => readRefused.count(project),
    erase: erasures.erase,
    countErased: erasures.countErased,
    expire: (before, limit, upto) => run(() => rows.removeBefore(before, limit, upto)),
    expireRefused: async (before) => void (await run(() => refused.removeBefore(before))),
    expireProfiles: (before, limit) => run(() => profiles.removeBefore(before, limit)),
    adopt: ({
      rows: given = [],
      mergesIdentifies = false,
      profiles: kept = [],
      refused: others = [],
    }) =>
      run(async () => {
        const merged = await profiles.merge(kept);
        const broken = [...merged.refused].map(([n, words]) => refusedProfileOf(kept[n]!, words));
        const records = given.map((row) => storable(arrivedOf(row)));
        const written = await rows.adopt(records, mergesIdentifies);
        return {
          rows: written.filter(({ outcome }) => outcome === 'stored').length,
          refused: await refused.adopt([...broken, ...lettersOf(records, written), ...others]),
        };
      }),
    follow: notice.follow,
    progress,
    clear: () =>
      run(async () => {
        for (const table of [
          'records',
          'counts',
          'hours',
          'summing',
          'profiles',
          'refused',
          'erasures',
          'target_dead',
          'parked',
        ])
          await writer.exec(`DELETE FROM ${table}`);
      }),
    close: async () => {
      notice.end();
      await Promise.all([erasures.end(), endSumming()]);
      await writes.whenIdle();
      await close();
    },
  };
};
