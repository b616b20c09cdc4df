import type { BatchRecord } from '../../interface/wire.js';

/**
 * The key of a record: an id belongs to one type of one project, so the same id in another type or project is
 * another record. Neither type nor id can hold a colon.
 */
export const recordKeyOf = ({ id, type, body }: BatchRecord): string =>
  `${type}:${id}:${String((body as { project?: unknown }).project)}`;
