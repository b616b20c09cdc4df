import type { OutboxRecord, RecordType } from '../../src/client/types.js';

interface Parts {
  type?: RecordType;
  user?: string;
  at?: number;
  /** Bytes of the body. */
  bytes?: number;
}

/** A record whose id is all that a test needs to know of it. */
export const makeRecord = (id: string, { type = 'event', user, at, bytes }: Parts = {}) => {
  const record: OutboxRecord = {
    id,
    type,
    body: bytes === undefined ? JSON.stringify({ event: id }) : 'x'.repeat(bytes),
    at: at ?? Date.now(),
    attempts: 0,
  };
  if (user !== undefined) record.user = user;
  return record;
};

export const makeIdentify = (id: string, user = 'u') => makeRecord(id, { type: 'identify', user });

/** Records `prefix0` and up. */
export const makeRecords = (count: number, prefix = 'r', parts: Parts = {}): OutboxRecord[] =>
  Array.from({ length: count }, (_, i) => makeRecord(`${prefix}${i}`, parts));
