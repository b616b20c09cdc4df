import type { BatchRecord } from '../../../src/interface/wire.js';
import type { Incoming } from '../../../src/server/incoming.js';

export const event = (id: string, name = id, user?: string): BatchRecord => ({
  id,
  type: 'event',
  body: { project: 'p', channel: 'c', event: name, ...(user && { user_id: user }) },
});

export const identify = (id: string, user: string): BatchRecord => ({
  id,
  type: 'identify',
  body: { project: 'p', user_id: user, properties: {} },
});

/** A record as it is once it has been checked. */
export const checked = (
  { id, type, body, called_at: told }: BatchRecord,
  more: Partial<Incoming> = {},
): Incoming => ({
  ...{ id, type, body: body as Incoming['body'], text: JSON.stringify(body) },
  calledAt: new Date(told ?? Date.now()).toISOString(),
  receivedAt: new Date().toISOString(),
  ...more,
});
