import type { Dialect } from './database.js';
import { SUMS } from './hours.js';
import { passingTables, progressTables } from './progress.js';

/** The version of the tables. */
export const VERSION = 4;

/** What the engines call things when they make tables. */
export interface Types {
  seq: string;
  time: string;
  /** JSON that stays as it was sent, and JSON that is looked into. */
  json: string;
  jsonb: string;
  /** A text of a key that is sorted by its bytes. */
  key: string;
  /** Options of a small table whose rows change often. */
  hot: string;
  /** The index that finds the rows of a user. */
  userIndex: string;
}

type Names = Pick<Dialect, 'table' | 'hour'>;

const sumTables = ({ table }: Names, { time, key, hot }: Types): string => `
  CREATE TABLE ${table('hour_sums')} (
    hour ${time} NOT NULL,
    project ${key} NOT NULL,
    channel ${key} NOT NULL,
    event ${key} NOT NULL,
    ${SUMS.map((name) => `${name} integer NOT NULL`).join(', ')},
    PRIMARY KEY (hour, project, channel, event)
  ) ${hot};`;

/**
 * What is counted beside the rows: the repeats of a project, and refused answers, by the hour in which they came; the times
 * in which no rows were stored.
 */
const countTables = ({ table }: Names, { time, key, hot }: Types): string => `
  CREATE TABLE ${table('repeats')} (
    hour ${time} NOT NULL,
    project ${key} NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (hour, project)
  ) ${hot};
  CREATE TABLE ${table('refused_counts')} (
    hour ${time} NOT NULL,
    project ${key} NOT NULL,
    reason ${key} NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (hour, project, reason)
  ) ${hot};
  CREATE TABLE ${table('outages')} (
    began_at ${time} NOT NULL,
    process ${key} NOT NULL,
    ended_at ${time} NOT NULL,
    problem text NOT NULL,
    PRIMARY KEY (began_at, process)
  ) ${hot};`;

/** The places of the readers. */
const readerTables = ({ table }: Names): string => `
  CREATE TABLE ${table('readers')} (
    name TEXT PRIMARY KEY,
    place bigint NOT NULL,
    number bigint NOT NULL
  );`;

/** All tables of a new store. */
export const newTables = (names: Names, types: Types): string => {
  const { table } = names;
  const { seq, time, json, jsonb, key, hot, userIndex } = types;
  return `
  CREATE TABLE ${table('records')} (
    seq ${seq},
    project text NOT NULL,
    type text NOT NULL,
    id text NOT NULL,
    channel text,
    event text,
    user_id ${key},
    body ${json} NOT NULL,
    called_at ${time} NOT NULL,
    received_at ${time} NOT NULL,
    arrivals integer NOT NULL DEFAULT 1,
    client text,
    notify boolean,
    sender text,
    from_server boolean,
    UNIQUE (project, type, id)
  );
  ${userIndex};
  CREATE INDEX rows_by_arrival ON ${table('records')} (received_at);
  CREATE TABLE ${table('row_counts')} (
    project text NOT NULL,
    type text NOT NULL,
    rows bigint NOT NULL,
    PRIMARY KEY (project, type)
  ) ${hot};
  CREATE TABLE ${table('profiles')} (
    project ${key} NOT NULL,
    user_id ${key} NOT NULL,
    properties ${jsonb} NOT NULL,
    set_at ${jsonb} NOT NULL,
    created_at ${time} NOT NULL,
    updated_at ${time} NOT NULL,
    PRIMARY KEY (project, user_id)
  ) ${hot};
  CREATE TABLE ${table('refused')} (
    seq ${seq},
    received_at ${time} NOT NULL,
    reason text NOT NULL,
    status integer NOT NULL,
    message text NOT NULL,
    id text,
    type text,
    project text,
    user_id text,
    body text,
    client text,
    record text,
    size integer NOT NULL GENERATED ALWAYS AS (coalesce(length(record), 0)) STORED,
    reader text,
    place bigint
  );
  CREATE INDEX refused_by_size ON ${table('refused')} (size, seq);
  CREATE INDEX refused_by_place ON ${table('refused')} (place);
  ${sumTables(names, types)}
  ${countTables(names, types)}
  ${readerTables(names)}
  INSERT INTO ${table('readers')} VALUES ('sums', 0, 0), ('profiles', 0, 0);
  ${progressTables(table)}
  ${passingTables(table)}`;
};

/** What targets have refused had a table of its own. */
const ofTargets = (table: Names['table']): string => `
    INSERT INTO ${table('refused')} (received_at, reason, status, message, id, type, project, user_id, client,
      reader, place)
    SELECT r.received_at, 'target', 200, d.message, r.id, r.type, r.project, r.user_id, r.client,
      d.target, d.place
    FROM ${table('target_dead')} AS d JOIN ${table('records')} AS r ON r.seq = d.place ORDER BY d.place;
    DROP TABLE ${table('target_dead')};`;

/**
 * Takes older tables to this version. `version` 1 has no sums by hour; 2 has no table of exports.
 *
 * Processes of the version before may still run. Their statements name `summing` first and then `hours`, so they are
 * taken away in this order: that waits for the writes that are under way, and later ones fail, so that their senders
 * wait. Only then the highest place is read. If older rows were still being summed, all rows are summed anew.
 */
export const upgrade = (version: number, names: Names, types: Types): string => {
  const { table, hour } = names;
  const older = version < 2;
  const barrier = `
    CREATE TABLE ${table('unsummed')} AS SELECT * FROM ${table('summing')};
    DROP TABLE ${table('summing')};
    ALTER TABLE ${table('hours')} RENAME TO hour_sums;`;
  const unsummed = older ? 'TRUE' : `EXISTS (SELECT 1 FROM ${table('unsummed')})`;
  const last = `(SELECT coalesce(max(seq), 0) FROM ${table('records')})`;
  const repeats = older
    ? `SELECT ${hour('received_at')} AS hour, project, arrivals - 1 AS n FROM ${table('records')}`
    : `SELECT hour, project, repeats AS n FROM ${table('hour_sums')}`;
  return `
    ${older ? sumTables(names, types) : barrier}
    ${countTables(names, types)}
    ${readerTables(names)}
    INSERT INTO ${table('readers')}
    SELECT 'sums', CASE WHEN ${unsummed} THEN 0 ELSE ${last} END, 0
    UNION ALL SELECT 'profiles', ${last}, 0;
    DELETE FROM ${table('row_counts')} WHERE ${unsummed};
    INSERT INTO ${table('repeats')}
    SELECT hour, project, sum(n) FROM (${repeats}) AS repeats GROUP BY 1, 2 HAVING sum(n) > 0;
    DELETE FROM ${table('hour_sums')} WHERE ${unsummed};
    ${
      older
        ? ''
        : `ALTER TABLE ${table('hour_sums')} DROP COLUMN repeats; DROP TABLE ${table('unsummed')};
    ALTER TABLE ${table('hour_sums')} ADD COLUMN from_server integer NOT NULL DEFAULT 0;`
    }
    ALTER TABLE ${table('refused')} ADD COLUMN reader text;
    ALTER TABLE ${table('refused')} ADD COLUMN place bigint;
    CREATE INDEX refused_by_size ON ${table('refused')} (size, seq);
    CREATE INDEX refused_by_place ON ${table('refused')} (place);
    ${version < 3 ? '' : ofTargets(table)}
    ALTER TABLE ${table('records')} ADD COLUMN sender text;
    ALTER TABLE ${table('records')} ADD COLUMN from_server boolean;
    ${passingTables(table)}
    ${version < 3 ? `ALTER TABLE ${table('records')} ADD COLUMN notify boolean; ${progressTables(table)}` : ''}`;
};
