import type { BatchRecord } from '../../interface/wire.js';

/**
 * The key of a record: an id belongs to one type of one project, so the same id in another type or project is
 * another record. Neither type nor id can hold a colon.
 */
export const recordKeyOf = ({ id, type, body }: BatchRecord): string =>
  `${type}:${id}:${String((body as { project?: unknown }).project)}`;

/**
 * The line in which a record stands: that of one user of one project, as one client tells of it. Identifies of a line
 * keep their order, and events come after the identifies before them. A record without a user, or with an empty one,
 * stands in no line.
 */
export const lineOf = ({ body, client = '' }: BatchRecord & { client?: string }): string => {
  const { project, user_id: user } = body as { project?: unknown; user_id?: unknown };
  return user ? JSON.stringify([client, project, user]) : '';
};
