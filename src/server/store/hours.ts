/** Columns that count rows of browsers by the milliseconds from call to arrival: those up to `ms`. */
export const DELAYS = [
  { name: 'in_2s', ms: 2_000 },
  { name: 'in_1m', ms: 60_000 },
  { name: 'in_1h', ms: 3_600_000 },
  { name: 'later', ms: Infinity },
] as const;

/** The columns of the sums of an hour; see `Hour`. */
export const SUMS = ['rows', ...DELAYS.map(({ name }) => name), 'from_server'] as const;

/** How many pairs of channel and event have sums, a project and hour. Strangers choose names, and may invent many. */
export const MAX_PAIRS = 500;
/** The channel and event under which all other pairs are summed. */
export const REST = '…';
/** Pairs with longer names are summed under `REST`, since an index of Postgres takes no long texts. */
export const MAX_PAIR_BYTES = 1_000;
