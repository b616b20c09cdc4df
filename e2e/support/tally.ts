/** How often each name was wanted and how often it came. */
export interface Tally {
  rows: readonly TallyRow[];
  /** Everything as often as wanted, and nothing else. */
  isExact: boolean;
  /** Something came too often, or was not wanted at all: no waiting will make that good. */
  isOver: boolean;
  /** For a person to read. */
  table: string;
}

interface TallyRow {
  name: string;
  wanted: number;
  came: number;
}

/** Compares two multisets of names. */
export const tally = (wanted: readonly string[], came: readonly string[]): Tally => {
  const wantedCounts = countOf(wanted);
  const cameCounts = countOf(came);
  const rows = [...new Set([...wanted, ...came])].map((name) => ({
    name,
    wanted: wantedCounts.get(name) ?? 0,
    came: cameCounts.get(name) ?? 0,
  }));
  return {
    rows,
    isExact: rows.every((row) => row.came === row.wanted),
    isOver: rows.some((row) => row.came > row.wanted),
    get table() {
      return tableOf(rows);
    },
  };
};

const countOf = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

const TIMES = ['never', 'once', 'twice'];
const times = (count: number): string => TIMES[count] ?? `${count} times`;

const verdictOf = ({ wanted, came }: TallyRow): string => {
  if (wanted === came) return '  ';
  return came < wanted ? '- ' : '+ ';
};

/** `-` came too seldom, `+` too often. A long run of names that are as wanted becomes one line. */
const tableOf = (rows: readonly TallyRow[]): string => {
  const wrong = rows.filter((row) => row.wanted !== row.came);
  const shown = rows.length > 30 ? wrong : rows;
  const width = Math.max(4, ...shown.map(({ name }) => name.length));
  const lines = shown.map(
    (row) =>
      `${verdictOf(row)}${row.name.padEnd(width)}  came ${times(row.came).padEnd(8)}  wanted ${times(row.wanted)}`,
  );
  const left = rows.length - shown.length;
  if (left) lines.push(`  (${left} more names came as often as wanted)`);
  return lines.join('\n');
};
