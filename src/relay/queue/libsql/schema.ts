const weightOf = (record: string): string => `((length(CAST(${record} AS BLOB)) + 1023) / 1024)`;

/**
 * `waiting` and `weight` have one row, which the triggers keep: counting the records would take longer the more there
 * are. Their weight is what they count for `maxWaiting`: one for each KiB begun.
 *
 * `lanes` has a row for each lane with records: `head` is its oldest. So a look for records that are due
 * passes over a lane that must wait in one step, however many records are behind it. Nobody takes of a lane
 * before `until`: either its records are out with the taking `token`, or its first record has failed and waits. It
 * is 0 where neither is so, so lanes in the order of `until` and `head` are those that have not failed, the oldest
 * first, and then the others. `due` is the end of the wait, while some of its records are still out.
 */
export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    lane TEXT NOT NULL,
    record TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    token TEXT
  );
  CREATE INDEX IF NOT EXISTS records_of_lane ON records (lane, seq);
  CREATE INDEX IF NOT EXISTS records_out ON records (lane, token) WHERE token IS NOT NULL;
  CREATE TABLE IF NOT EXISTS lanes (
    lane TEXT PRIMARY KEY,
    head INTEGER NOT NULL,
    until INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL DEFAULT 0,
    token TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS lanes_by_head ON lanes (until, head);
  CREATE TABLE IF NOT EXISTS waiting (count INTEGER NOT NULL);
  INSERT INTO waiting
    SELECT (SELECT count(*) FROM records) WHERE NOT EXISTS (SELECT 1 FROM waiting);
  CREATE TABLE IF NOT EXISTS weight (sum INTEGER NOT NULL);
  INSERT INTO weight SELECT (SELECT coalesce(sum(${weightOf('record')}), 0) FROM records)
    WHERE NOT EXISTS (SELECT 1 FROM weight);
  CREATE TRIGGER IF NOT EXISTS records_weighed AFTER INSERT ON records BEGIN
    UPDATE weight SET sum = sum + ${weightOf('new.record')};
  END;
  CREATE TRIGGER IF NOT EXISTS records_unweighed AFTER DELETE ON records BEGIN
    UPDATE weight SET sum = sum - ${weightOf('old.record')};
  END;
  CREATE TRIGGER IF NOT EXISTS records_put AFTER INSERT ON records BEGIN
    UPDATE waiting SET count = count + 1;
    INSERT INTO lanes (lane, head) VALUES (new.lane, new.seq) ON CONFLICT DO NOTHING;
  END;
  CREATE TRIGGER IF NOT EXISTS records_gone AFTER DELETE ON records BEGIN
    UPDATE waiting SET count = count - 1;
    DELETE FROM lanes WHERE lane = old.lane
      AND NOT EXISTS (SELECT 1 FROM records WHERE records.lane = old.lane);
    UPDATE lanes SET head = (SELECT min(seq) FROM records WHERE records.lane = old.lane)
      WHERE lane = old.lane AND head = old.seq;
  END;
  CREATE TABLE IF NOT EXISTS dead (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    record TEXT NOT NULL,
    reason TEXT NOT NULL,
    died_at INTEGER NOT NULL
  );
`;
