import type { BatchRecord } from '../../interface/wire.js';

/**
 * What tells a record from all others: its id belongs to one type of one project, so that an id that is
 * used again for something else is another record. Neither type nor id can hold a colon.
 */
export const recordKeyOf = ({ id, type, body }: BatchRecord): string =>
  `${type}:${id}:${String((body as { project?: unknown }).project)}`;
