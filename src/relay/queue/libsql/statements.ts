import type Database from 'libsql';

/** The statements of a queue. */
export const createStatements = (database: Database.Database) => {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  return {
    insert: prepare(
      'INSERT INTO records (id, lane, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    selectLanes: prepare(
      'SELECT lane, head, until FROM lanes WHERE until <= ? ORDER BY until, head LIMIT ?',
    ),
    selectOfLane: prepare(`
    SELECT seq, lane, record, attempts FROM records
    WHERE lane = ? AND seq <= ? ORDER BY seq LIMIT ?`),
    hold: prepare('UPDATE records SET token = ?, attempts = attempts + 1 WHERE seq = ?'),
    holdLane: prepare('UPDATE lanes SET until = ?, due = 0, token = ? WHERE lane = ?'),
    remove: prepare('DELETE FROM records WHERE seq = ?'),
    giveBack: prepare(
      'UPDATE records SET token = NULL, attempts = attempts - ? WHERE seq = ? AND token = ?',
    ),
    delayLane: prepare('UPDATE lanes SET due = max(due, ?) WHERE lane = ? AND token = ?'),
    bury: prepare('INSERT INTO dead (record, reason, died_at) VALUES (?, ?, ?)'),
    // Only once none of the lane's records is out with this token any more.
    releaseLane: prepare(`
    UPDATE lanes SET until = due, token = NULL WHERE lane = ?1 AND token = ?2
      AND NOT EXISTS (SELECT 1 FROM records WHERE records.lane = ?1 AND records.token = ?2)`),
    countAll: prepare(
      'SELECT (SELECT count FROM waiting) AS waiting, (SELECT count(*) FROM dead) AS dead',
    ),
    weigh: prepare('SELECT sum FROM weight'),
    oldest: prepare('SELECT record FROM records ORDER BY seq LIMIT 1'),
  };
};
