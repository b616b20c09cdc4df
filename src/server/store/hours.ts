/** Columns that count rows of browsers by their delay after the call: those of at most so many milliseconds. */
export const DELAYS = [
  { name: 'in_2s', ms: 2_000 },
  { name: 'in_1m', ms: 60_000 },
  { name: 'in_1h', ms: 3_600_000 },
  { name: 'later', ms: Infinity },
] as const;

/** The columns of the sums of an hour; see `Hour`. */
export const SUMS = ['rows', ...DELAYS.map(({ name }) => name), 'from_server'] as const;

/** Pairs of channel and event that a project and hour has sums of. Names are texts of strangers, who may invent many. */
export const MAX_PAIRS = 500;
/** The channel and event under which all other pairs are summed. */
export const REST = '…';
/** A longer pair is summed under the rest, too: an index of Postgres takes no long texts. */
export const MAX_PAIR_BYTES = 1_000;
