import { hashOf } from '../../util/hash-of.js';
import { number, type Database } from './database.js';
import type { Filters } from './filter.js';
import { readMember, type Member } from './member.js';
import type {
  Breakdown,
  FilterCounts,
  Looked,
  RowFilter,
  Store,
  TagValues,
  ValueCount,
} from './port.js';
import { createRowReader } from './rows.js';
import type { Steps } from './steps.js';
import { storableText } from './storable.js';
import type { Sums } from './sums.js';

/** Values of a tag in an answer, and those that are told apart: strangers can invent any number. */
const [MAX_VALUES, MAX_DISTINCT] = [10, 10_000];
/** Rows whose tags are named, and how many names that may be. */
const [NAMED_ROWS, MAX_NAMES] = [200, 100];
/** Characters of the name of a tag that is named. A longer one can be asked for nevertheless. */
const MAX_NAME = 256;

const createTally = (tag: string) => {
  const counts = new Map<string, ValueCount>();
  let rest = 0;
  return {
    add: (text: string, rows: number): void => {
      const member: Member = readMember(text);
      // A text of three digits and a number are one value to a filter, the beginning of a text is not that text.
      const key = `${member.is_part ? 1 : 0}${member.value}`;
      const known = counts.get(key);
      if (known) known.rows += rows;
      else if (counts.size < MAX_DISTINCT) counts.set(key, { ...member, rows });
      else rest += rows;
    },
    all: (): TagValues => {
      const values = [...counts.values()].sort(
        (a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1),
      );
      const others = values.slice(MAX_VALUES).reduce((sum, { rows }) => sum + rows, rest);
      return { tag, values: values.slice(0, MAX_VALUES), others };
    },
  };
};

const sumOf = (hours: readonly { rows: number }[] | undefined): number | undefined =>
  hours?.reduce((sum, { rows }) => sum + rows, 0);

interface Parts {
  database: Database;
  filters: Filters;
  steps: Steps;
  reader: ReturnType<typeof createRowReader>;
  sums: Pick<Sums, 'exactly'>;
}

/** What is counted by looking at rows, the newest first, for a time at the most. */
export const createLooking = ({
  database,
  filters,
  steps,
  reader,
  sums,
}: Parts): Pick<Store, 'search' | 'count' | 'breakdown'> => {
  const { table, hour, isoHour, members, memberValue, read } = database;
  const records = table('records');
  const { conditionsOf, cutToTime } = filters;

  const withSince = async <One extends Looked>(looked: One): Promise<One> => {
    const since = await reader.sinceOf(looked.place);
    return since === undefined ? looked : { ...looked, since };
  };
  /** Looks at the newest rows of a time, step by step. `lookAt` returns how many there were. */
  const look = async (
    within: Pick<RowFilter, 'from' | 'to'>,
    ms: number,
    lookAt: (after: number, before: number) => Promise<number>,
  ): Promise<Looked & { rows: number }> => {
    const looked = { place: 0, is_all: true, rows: 0 };
    const way = { ...(await cutToTime(within, {})), newest: true, rests: true, ms };
    for await (const { after, before, isLast } of steps.steps(way)) {
      looked.rows += await lookAt(after, before);
      looked.place = after + 1;
      looked.is_all = isLast;
    }
    return withSince(looked);
  };

  const countByRows = async (all: readonly RowFilter[], ms: number) => {
    const rows = all.map(() => 0);
    // All have the same time, so that one look is enough.
    const looked = await look(all[0]!, ms, async (after, before) => {
      const shared = conditionsOf({});
      const counts = all.map((filter, at) => {
        const condition = conditionsOf(filter, shared).text();
        return number(`count(CASE WHEN ${condition} THEN 1 END)`, `n${at}`);
      });
      const [found] = await read<Record<string, number>>(
        `SELECT ${number('count(*)', 'n')}, ${counts.join(', ')} FROM ${records} AS r
        WHERE r.seq > ${shared.value(after)} AND r.seq < ${shared.value(before)}`,
        ...shared.values,
      );
      for (const at of rows.keys()) rows[at]! += found![`n${at}`]!;
      return found!['n']!;
    });
    return { rows, looked };
  };

  /** Adds the names of tags of the newest rows. Returns how many rows that were. */
  const addNames = async (names: Set<string>, filter: RowFilter, after: number, before: number) => {
    const { values, value, text } = conditionsOf(filter);
    const found = await read<{ name: string }>(
      `SELECT DISTINCT one.key AS name FROM (
        SELECT body FROM ${records} AS r
        WHERE ${text()} AND r.seq > ${value(after)} AND r.seq < ${value(before)}
        ORDER BY r.seq DESC LIMIT ${NAMED_ROWS}) AS newest, ${members('newest.body', 'tags')}
      WHERE length(one.key) <= ${MAX_NAME} LIMIT ${MAX_NAMES}`,
      ...values,
    );
    for (const { name } of found) if (names.size < MAX_NAMES) names.add(name);
  };

  return {
    search: async (filter, span, ms) => {
      const { rows, looked } = await reader.find(filter, { ...span, ms });
      return { rows, looked: await withSince(looked) };
    },
    count: async (all, ms): Promise<FilterCounts> => {
      const counts = await Promise.all(
        all.map(async (filter) => ({ filter, rows: sumOf(await sums.exactly(filter)) })),
      );
      const left = counts.flatMap(({ filter, rows }) => (rows === undefined ? [filter] : []));
      const found = left.length ? await countByRows(left, ms) : undefined;
      return {
        counts: counts.map(({ filter, rows }) => ({
          rows: rows ?? found!.rows[left.indexOf(filter)]!,
          is_exact: rows !== undefined || found!.looked.is_all,
        })),
        ...(found && { looked: found.looked }),
      };
    },
    breakdown: async (filter, tags, ms): Promise<Breakdown> => {
      const summed = await sums.exactly(filter);
      const [names, users, hours] = [
        new Set<string>(),
        new Set<number>(),
        new Map<string, number>(),
      ];
      const tallies = tags.map(createTally);
      let isNamed = 0;
      const looked = await look(filter, ms, async (after, before) => {
        const { values, value, text } = conditionsOf(filter);
        const columns = tags.map(
          (tag, at) =>
            `(SELECT ${memberValue} FROM ${members('r.body', 'tags')}
              WHERE one.key = ${value(storableText(tag))} LIMIT 1) AS t${at}`,
        );
        const found = await read<Record<string, string | null>>(
          `SELECT ${['r.project', 'r.user_id', `${isoHour(hour('r.received_at'))} AS hour`, ...columns].join(', ')}
          FROM ${records} AS r WHERE ${text()} AND r.seq > ${value(after)} AND r.seq < ${value(before)}`,
          ...values,
        );
        for (const row of found) {
          if (row['user_id'] !== null) users.add(hashOf(`${row['project']}\n${row['user_id']}`));
          hours.set(row['hour']!, (hours.get(row['hour']!) ?? 0) + 1);
          for (const [at, tally] of tallies.entries()) {
            const text = row[`t${at}`];
            if (text) tally.add(text, 1);
          }
        }
        if (found.length && isNamed < NAMED_ROWS) await addNames(names, filter, after, before);
        isNamed += found.length;
        return found.length;
      });
      const byHour = summed ?? [...hours].sort().map(([hour, rows]) => ({ hour, rows }));
      return {
        ...{ rows: sumOf(summed) ?? looked.rows, hours: byHour, users: users.size },
        is_exact: summed !== undefined || looked.is_all,
        ...{ tags: tallies.map(({ all }) => all()), names: [...names].sort(), looked },
      };
    },
  };
};
