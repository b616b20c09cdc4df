/** Takes the tables of a file back to version 3, which summed rows and merged identifies as it stored them. */
export const OLDER_SQLITE = `
  DROP TABLE readers;
  DROP TABLE refused_counts;
  DROP TABLE outages;
  DROP TABLE parked;
  DROP TABLE secrets;
  ALTER TABLE records DROP COLUMN sender;
  ALTER TABLE records DROP COLUMN from_server;
  ALTER TABLE hour_sums DROP COLUMN from_server;
  ALTER TABLE hour_sums RENAME TO hours;
  ALTER TABLE hours ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;
  INSERT INTO hours (hour, project, channel, event, rows, repeats, in_2s, in_1m, in_1h, later)
    SELECT hour, project, '', '', 0, n, 0, 0, 0, 0 FROM repeats WHERE TRUE
    ON CONFLICT DO UPDATE SET repeats = excluded.repeats;
  DROP TABLE repeats;
  CREATE TABLE summing (done INTEGER NOT NULL, last INTEGER NOT NULL, whole_from TEXT NOT NULL);
  ALTER TABLE row_counts RENAME TO counts;
  CREATE TRIGGER rows_counted AFTER INSERT ON records BEGIN
    INSERT INTO counts VALUES (new.project, new.type, 1)
      ON CONFLICT DO UPDATE SET rows = rows + 1;
  END;
  CREATE TRIGGER rows_uncounted AFTER DELETE ON records BEGIN
    UPDATE counts SET rows = rows - 1 WHERE project = old.project AND type = old.type;
  END;
  DROP INDEX refused_by_size;
  DROP INDEX refused_by_place;
  CREATE TABLE target_dead (target TEXT NOT NULL, place bigint NOT NULL, message TEXT NOT NULL);
  ALTER TABLE refused DROP COLUMN reader;
  ALTER TABLE refused DROP COLUMN place;
  CREATE TABLE refused_sizes (is_dead INTEGER PRIMARY KEY, count INTEGER NOT NULL, size INTEGER NOT NULL);
  CREATE TRIGGER refused_counted AFTER INSERT ON refused BEGIN
    UPDATE refused_sizes SET count = count + 1;
  END;
  CREATE TRIGGER refused_uncounted AFTER DELETE ON refused BEGIN
    UPDATE refused_sizes SET count = count - 1;
  END;
  CREATE INDEX refused_by_kind ON refused (size, seq);
`;

/** Takes the tables of a schema of Postgres back to version 3. */
export const olderPostgres = (schema: string): string => `
  DROP TABLE "${schema}".readers, "${schema}".parked, "${schema}".secrets,
    "${schema}".refused_counts, "${schema}".outages;
  ALTER TABLE "${schema}".records DROP COLUMN sender, DROP COLUMN from_server;
  ALTER TABLE "${schema}".hour_sums DROP COLUMN from_server;
  ALTER TABLE "${schema}".hour_sums RENAME TO hours;
  ALTER TABLE "${schema}".hours ADD COLUMN repeats integer NOT NULL DEFAULT 0;
  INSERT INTO "${schema}".hours (hour, project, channel, event, rows, repeats, in_2s, in_1m, in_1h, later)
    SELECT hour, project, '', '', 0, n, 0, 0, 0, 0 FROM "${schema}".repeats
    ON CONFLICT (hour, project, channel, event) DO UPDATE SET repeats = excluded.repeats;
  DROP TABLE "${schema}".repeats;
  CREATE TABLE "${schema}".summing (
    done bigint NOT NULL, last bigint NOT NULL, whole_from timestamptz NOT NULL);
  DROP INDEX "${schema}".refused_by_size, "${schema}".refused_by_place, "${schema}".rows_of_user;
  ALTER TABLE "${schema}".records ALTER COLUMN user_id TYPE text COLLATE "default";
  CREATE INDEX ON "${schema}".records USING hash (user_id) WHERE user_id IS NOT NULL;
  CREATE TABLE "${schema}".target_dead (
    target TEXT NOT NULL, place bigint NOT NULL, message TEXT NOT NULL);
  ALTER TABLE "${schema}".refused DROP COLUMN reader, DROP COLUMN place, DROP COLUMN size;
`;
