import { number, type Database } from './database.js';
import type { Outage } from './port.js';
import { refusedText } from './refused-bounds.js';
import type { Steps } from './steps.js';

/** A database that fails again and again may have any number of them. */
const MAX_OUTAGES = 1_000;
const MAX_READ = 100;
/** Rows are looked through for so long. */
const LOOK_MS = 1_500;

interface Span {
  from: string;
  to: string;
}

/** Keeps the times in which no rows were stored. */
export const createOutages = (
  { table, time, iso, read, write }: Database,
  { steps }: Pick<Steps, 'steps'>,
) => {
  const outages = table('outages');
  const records = table('records');

  return {
    add: async ({ from, to, process, problem }: Outage): Promise<void> => {
      await write(
        `INSERT INTO ${outages} (began_at, process, ended_at, problem)
        VALUES (${time('$1')}, $2, ${time('$3')}, $4) ON CONFLICT (began_at, process) DO NOTHING`,
        ...[from, process, to, refusedText(problem)],
      );
      await write(`DELETE FROM ${outages} WHERE began_at <= (
        SELECT began_at FROM ${outages} ORDER BY began_at DESC LIMIT 1 OFFSET ${MAX_OUTAGES})`);
    },
    read: async ({ from, to }: Span): Promise<Outage[]> => {
      const found = await read<Outage>(
        `SELECT ${iso('began_at')} AS "from", ${iso('ended_at')} AS "to", process, problem
        FROM ${outages} WHERE ended_at >= ${time('$1')} AND began_at < ${time('$2')}
        ORDER BY began_at DESC LIMIT ${MAX_READ}`,
        ...[from, to],
      );
      return found.reverse();
    },
    countLater: async ({ from, to }: Span): Promise<{ rows: number; isAll: boolean }> => {
      const [first] = await read<{ seq: number }>(
        `SELECT ${number('seq')} FROM ${records} WHERE received_at >= ${time('$1')}
        ORDER BY received_at LIMIT 1`,
        to,
      );
      let rows = 0;
      let isAll = !first;
      const way = { after: first && first.seq - 1, rests: true, ms: LOOK_MS };
      if (first)
        for await (const { after, before, isLast } of steps(way)) {
          const [found] = await read<{ rows: number }>(
            `SELECT ${number('count(*)', 'rows')} FROM ${records}
            WHERE seq > $1 AND seq < $2 AND received_at >= ${time('$4')}
              AND called_at >= ${time('$3')} AND called_at < ${time('$4')}`,
            ...[after, before, from, to],
          );
          rows += found!.rows;
          isAll = isLast;
        }
      return { rows, isAll };
    },
    expire: (before: string) =>
      write(`DELETE FROM ${outages} WHERE ended_at < ${time('$1')}`, before),
  };
};
