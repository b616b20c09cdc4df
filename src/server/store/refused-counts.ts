import { number, type Database } from './database.js';
import type { HourFilter, RefusedCount } from './port.js';
import { storableText } from './storable.js';

/** Counts answers that have refused a request or a record, by hour, project and reason. */
export const createRefusedCounts = ({
  table,
  each,
  time,
  hour,
  isoHour,
  read,
  write,
}: Database) => {
  const counts = table('refused_counts');
  // In the order of their keys: processes that add in different orders would wait for rows of each other.
  const add = `INSERT INTO ${counts} (hour, project, reason, n)
    SELECT ${hour(time('value->>0'))}, value->>1, value->>2, CAST(value->>3 AS integer)
    FROM ${each('$1')} WHERE TRUE ORDER BY 1, 2, 3
    ON CONFLICT (hour, project, reason) DO UPDATE SET n = refused_counts.n + excluded.n`;

  return {
    add: async (given: readonly (RefusedCount & { project: string })[]): Promise<void> => {
      const values = given.map(({ hour: at, project, reason, n }) => [
        ...[at, storableText(project), reason, n],
      ]);
      if (values.length) await write(add, JSON.stringify(values));
    },
    read: ({
      project,
      from,
      to,
    }: Pick<HourFilter, 'project' | 'from' | 'to'>): Promise<RefusedCount[]> =>
      read(
        `SELECT ${isoHour('refused_counts.hour')} AS hour, reason, ${number('sum(n)', 'n')} FROM ${counts}
        WHERE hour >= ${hour(time('$1'))} AND hour < ${hour(time('$2'))}
          ${project === undefined ? '' : 'AND project = $3'}
        GROUP BY refused_counts.hour, reason ORDER BY refused_counts.hour, reason`,
        ...[from, to, ...(project === undefined ? [] : [storableText(project)])],
      ),
    expire: (before: string) =>
      write(`DELETE FROM ${counts} WHERE hour < ${hour(time('$1'))}`, before),
  };
};
