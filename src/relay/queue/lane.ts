import type { BatchRecord } from '../../interface/wire.js';

/** Records of one lane keep their order: a user's records of one project, or a single one without a user. */
export const laneOf = ({ id, body }: BatchRecord): string => {
  const { project, user_id: user } = body as { project?: unknown; user_id?: unknown };
  return JSON.stringify(typeof user === 'string' ? [project, user] : [id]);
};
