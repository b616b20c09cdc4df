import type { BatchRecord } from '../../../src/interface/wire.js';

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
