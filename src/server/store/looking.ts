import { hashOf } from '../../util/hash-of.js';
import { number, type Database } from './database.js';
import type { Filters } from './filter.js';
import { readMember } from './member.js';
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
    tag,
    add: (text: string, rows: number): void => {
      const member = readMember(text);
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

type HourRows = Breakdown['hours'][number];
/** How often sums are read again that have changed meanwhile. */
const MAX_TRIES = 3;

const sumOf = (hours: readonly { rows: number }[] | undefined): number | undefined =>
  hours?.reduce((sum, { rows }) => sum + rows, 0);

interface Parts {
  database: Database;
  filters: Filters;
  steps: Steps;
  reader: ReturnType<typeof createRowReader>;
  sums: Pick<Sums, 'exactly' | 'reached'>;
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

  /** The rows of a filter by hour: the sums, and the few rows that are not summed yet. Undefined if sums cannot tell. */
  const summed = async (filter: RowFilter): Promise<HourRows[] | undefined> => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await sums.reached();
      const hours = await sums.exactly(filter);
      if (!hours) return undefined;
      const { values, value, text } = conditionsOf(filter);
      const behind = await read<HourRows>(
        `SELECT ${isoHour(hour('r.received_at'))} AS hour, ${number('count(*)', 'rows')}
        FROM ${records} AS r WHERE ${text()} AND r.seq > ${value(before.place)} GROUP BY 1`,
        ...values,
      );
      if ((await sums.reached()).number !== before.number) continue;
      const rows = new Map(hours.map((one) => [one.hour, one.rows]));
      for (const one of behind) rows.set(one.hour, (rows.get(one.hour) ?? 0) + one.rows);
      return [...rows].sort().map(([hour, rows]) => ({ hour, rows }));
    }
    return undefined;
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

  /** Adds the names of tags of the newest rows, and whether their values differ. */
  const addNames = async (
    names: Map<string, boolean>,
    filter: RowFilter,
    after: number,
    before: number,
  ): Promise<void> => {
    const { values, value, text } = conditionsOf(filter);
    const found = await read<{ name: string; kinds: number }>(
      `SELECT one.key AS name, ${number(`count(DISTINCT ${memberValue})`, 'kinds')} FROM (
        SELECT body FROM ${records} AS r
        WHERE ${text()} AND r.seq > ${value(after)} AND r.seq < ${value(before)}
        ORDER BY r.seq DESC LIMIT ${NAMED_ROWS}) AS newest, ${members('newest.body', 'tags')}
      WHERE length(one.key) <= ${MAX_NAME} GROUP BY one.key ORDER BY one.key LIMIT ${MAX_NAMES}`,
      ...values,
    );
    for (const { name, kinds } of found)
      if (names.size < MAX_NAMES || names.has(name)) names.set(name, names.get(name) || kinds > 1);
  };
  /** Tags whose values differ come first. */
  const inOrder = (names: ReadonlyMap<string, boolean>): string[] => {
    const sorted = [...names.keys()].sort();
    return [true, false].flatMap((differs) => sorted.filter((name) => names.get(name) === differs));
  };

  return {
    search: async (filter, span, ms) => {
      const { rows, looked } = await reader.find(filter, { ...span, ms });
      return { rows, looked: await withSince(looked) };
    },
    count: async (all, ms): Promise<FilterCounts> => {
      const counts = await Promise.all(
        all.map(async (filter) => ({ filter, rows: sumOf(await summed(filter)) })),
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
      const known = await summed(filter);
      const [names, hours] = [new Map<string, boolean>(), new Map<string, number>()];
      const users = new Set<number>();
      let tallies = tags.map(createTally);
      let named = 0;
      const looked = await look(filter, ms, async (after, before) => {
        if (named < NAMED_ROWS) await addNames(names, filter, after, before);
        // Of an event there is always something to see.
        if (!tallies.length && filter.event?.length)
          tallies = inOrder(names).slice(0, 1).map(createTally);
        const { values, value, text } = conditionsOf(filter);
        const columns = tallies.map(
          ({ tag }, at) =>
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
        named += found.length;
        return found.length;
      });
      const byHour = known ?? [...hours].sort().map(([hour, rows]) => ({ hour, rows }));
      return {
        ...{ rows: sumOf(known) ?? looked.rows, hours: byHour, users: users.size },
        is_exact: known !== undefined || looked.is_all,
        ...{ tags: tallies.map(({ all }) => all()), names: inOrder(names), looked },
      };
    },
  };
};
