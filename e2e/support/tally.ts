/** How often names were wanted and how often they came. */
export interface Tally {
  /** Everything as often as wanted, and nothing else. */
  isExact: boolean;
  /** Something came too often, or was not wanted at all: no waiting will make that good. */
  isOver: boolean;
  /** For a person to read: what came too seldom (`-`) or too often (`+`), and how many names as often as wanted. */
  table: string;
}

const countIn = (names: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return (name: string): number => counts.get(name) ?? 0;
};

/** Compares two multisets of names. */
export const tally = (wanted: readonly string[], came: readonly string[]): Tally => {
  const [wantedOf, cameOf] = [countIn(wanted), countIn(came)];
  const names = [...new Set([...wanted, ...came])];
  const wrong = names.filter((name) => cameOf(name) !== wantedOf(name));
  const lines = wrong.map((name) => {
    const sign = cameOf(name) < wantedOf(name) ? '-' : '+';
    return `${sign} ${name}: came ${cameOf(name)} times, wanted ${wantedOf(name)} times`;
  });
  return {
    isExact: wrong.length === 0,
    isOver: wrong.some((name) => cameOf(name) > wantedOf(name)),
    table: [...lines, `${names.length - wrong.length} more names as often as wanted`].join('\n'),
  };
};
