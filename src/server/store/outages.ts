import { number, type Database } from './database.js';
import type { Outage } from './port.js';
import { refusedText } from './refused-bounds.js';

/** A database that fails again and again may have any number of them. */
const MAX_OUTAGES = 1_000;
const MAX_READ = 100;
/** Rows are looked through for so long, and so many at a time where reading does not block the only thread. */
const [LOOK_MS, STEP] = [1_500, 20_000];

interface Span {
  from: string;
  to: string;
}

/** Keeps the times in which no rows were stored. */
export const createOutages = ({ table, time, iso, read, write, pieces, lastPlace }: Database) => {
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
      const until = performance.now() + LOOK_MS;
      const [first] = await read<{ seq: number }>(
        `SELECT ${number('seq')} FROM ${records} WHERE received_at >= ${time('$1')}
        ORDER BY received_at LIMIT 1`,
        to,
      );
      let rows = 0;
      if (!first) return { rows, isAll: true };
      const [last] = await read<{ place: number }>(lastPlace);
      const span = { after: first.seq - 1, before: last!.place + 1, size: STEP };
      for await (const [after, before] of pieces(span)) {
        const began = performance.now();
        const [found] = await read<{ rows: number }>(
          `SELECT ${number('count(*)', 'rows')} FROM ${records}
          WHERE seq > $1 AND seq < $2 AND received_at >= ${time('$4')}
            AND called_at >= ${time('$3')} AND called_at < ${time('$4')}`,
          ...[after, before, from, to],
        );
        rows += found!.rows;
        if (performance.now() > until) return { rows, isAll: false };
        // As long as the step took, so that intake gets its turn.
        await new Promise((resolve) => setTimeout(resolve, performance.now() - began));
      }
      return { rows, isAll: true };
    },
    expire: (before: string) =>
      write(`DELETE FROM ${outages} WHERE ended_at < ${time('$1')}`, before),
  };
};
