import type { BatchRecord } from '../../interface/wire.js';

/**
 * The lane of a record. Records of one lane keep their order: those of one user of one project. A record
 * without a user, or with an empty one, has a lane of its own.
 */
export const laneOf = ({ id, body }: BatchRecord): string => {
  const { project, user_id: user } = body as { project?: unknown; user_id?: unknown };
  return JSON.stringify(user ? [project, user] : [id]);
};
