import { PROFILE_LIMITS } from '../../profile-limit.js';
import { SUMS } from '../hours.js';
import { passingTables, progressTables } from '../progress.js';

/**
 * The sums by hour of arrival. `hour` is the beginning of a time, up to the hour. `summing` has a row while rows from
 * before version 2 are summed: places above `done` and up to `last` are not summed yet.
 */
const HOURS = `
  CREATE TABLE hours (
    hour TEXT NOT NULL,
    project TEXT NOT NULL,
    channel TEXT NOT NULL,
    event TEXT NOT NULL,
    ${SUMS.map((name) => `${name} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (hour, project, channel, event)
  ) WITHOUT ROWID;
  CREATE TABLE summing (done INTEGER NOT NULL, last INTEGER NOT NULL, whole_from TEXT NOT NULL);
  `;

const PROGRESS = progressTables((name) => name);
/** Whether a row asks for a notification: 1, or NULL. */
const NOTIFY = 'ALTER TABLE records ADD COLUMN notify INTEGER;';
/** `sender`: a word for the address that has sent a row, if rows are passed on to another service. */
const PASSING = `ALTER TABLE records ADD COLUMN sender TEXT;${passingTables((name) => name)}`;

/**
 * AUTOINCREMENT: a place in the feed is never given twice, not even after everything was deleted. One process writes
 * at a time, so places appear in their order.
 *
 * Triggers keep `counts` and `refused_sizes`, because counting takes the longer the more rows there are, and holds up
 * all other work.
 */
export const TABLES = {
  version: 4,
  sql: `
  CREATE TABLE records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    id TEXT NOT NULL,
    channel TEXT,
    event TEXT,
    user_id TEXT,
    body TEXT NOT NULL,
    called_at TEXT NOT NULL,
    received_at TEXT NOT NULL,
    arrivals INTEGER NOT NULL DEFAULT 1,
    client TEXT,
    UNIQUE (project, type, id)
  );
  CREATE INDEX rows_of_user ON records (project, user_id) WHERE user_id IS NOT NULL;
  CREATE INDEX rows_by_arrival ON records (received_at);

  CREATE TABLE counts (
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (project, type)
  ) WITHOUT ROWID;
  CREATE TRIGGER rows_counted AFTER INSERT ON records BEGIN
    INSERT INTO counts VALUES (new.project, new.type, 1)
      ON CONFLICT DO UPDATE SET rows = rows + 1;
  END;
  CREATE TRIGGER rows_uncounted AFTER DELETE ON records BEGIN
    UPDATE counts SET rows = rows - 1 WHERE project = old.project AND type = old.type;
  END;

  CREATE TABLE profiles (
    project TEXT NOT NULL,
    user_id TEXT NOT NULL,
    properties TEXT NOT NULL,
    set_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project, user_id),
    CONSTRAINT "${PROFILE_LIMITS.characters.words}" CHECK (length(properties) <= ${PROFILE_LIMITS.characters.most})
  ) WITHOUT ROWID;

  CREATE TABLE refused (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at TEXT NOT NULL,
    reason TEXT NOT NULL,
    status INTEGER NOT NULL,
    message TEXT NOT NULL,
    id TEXT,
    type TEXT,
    project TEXT,
    user_id TEXT,
    body TEXT,
    client TEXT,
    record TEXT,
    is_dead INTEGER NOT NULL GENERATED ALWAYS AS (record IS NOT NULL) STORED,
    size INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(length(record), 0)) STORED
  );
  CREATE INDEX refused_by_kind ON refused (is_dead, seq);
  CREATE TABLE refused_sizes (is_dead INTEGER PRIMARY KEY, count INTEGER NOT NULL, size INTEGER NOT NULL);
  INSERT INTO refused_sizes VALUES (0, 0, 0), (1, 0, 0);
  CREATE TRIGGER refused_counted AFTER INSERT ON refused BEGIN
    UPDATE refused_sizes SET count = count + 1, size = size + new.size WHERE is_dead = new.is_dead;
  END;
  CREATE TRIGGER refused_uncounted AFTER DELETE ON refused BEGIN
    UPDATE refused_sizes SET count = count - 1, size = size - old.size WHERE is_dead = old.is_dead;
  END;
  ${NOTIFY}
  ${HOURS}
  ${PROGRESS}
  ${PASSING}`,
  steps: {
    // An earlier version looks for the table under its old name, so its writes fail and its senders wait.
    1: `
    ALTER TABLE rows RENAME TO records;
    ${HOURS}
    INSERT INTO summing
    SELECT 0, (SELECT max(seq) FROM records),
      strftime('%Y-%m-%dT%H:00:00.000Z', (SELECT max(received_at) FROM records), '+1 hour')
    WHERE EXISTS (SELECT 1 FROM records);`,
    2: NOTIFY + PROGRESS,
    3: PASSING,
  },
};
