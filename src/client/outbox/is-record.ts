import type { OutboxRecord } from '../types.js';

/** What stands in storage is taken for a record only where it can be sent as one. */
export const isRecord = (value: unknown): value is OutboxRecord => {
  const { id, type, body, at, attempts, user = '' } = (value ?? {}) as Partial<OutboxRecord>;
  return (
    [id, body, user].every((text) => typeof text === 'string') &&
    !!body &&
    (type === 'event' || type === 'identify') &&
    [at, attempts].every(Number.isFinite)
  );
};
