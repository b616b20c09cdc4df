import type { QueuedRecord, Taken } from '../../../src/server/queue/ports.js';

/** All ids have one length: Redis sorts what came in one millisecond by its id. */
let made = 100_000;

/** A record as a relay puts it into its queue. */
export const makeQueued = (user?: string, id = `record-${++made}`): QueuedRecord => ({
  id,
  type: 'event',
  body: {
    project: 'p',
    channel: 'c',
    event: 'e',
    timestamp: '2026-01-01T00:00:00.000Z',
    ...(user !== undefined && { user_id: user }),
  },
  at: 1_000,
});

export const idsOf = (taken: readonly { record: QueuedRecord }[]): string[] =>
  taken.map(({ record }) => record.id);

export const makeIdentify = (user: string, client?: string): QueuedRecord => ({
  id: `identify-${++made}`,
  type: 'identify',
  body: { project: 'p', user_id: user, properties: {} },
  at: 1_000,
  ...(client !== undefined && { client }),
});

/** Gives records back untried, or as failed where there is a delay. */
export const back = (taken: readonly Taken[], delayMs: number, isTried = delayMs > 0) =>
  taken.map((one) => ({ taken: one, delayMs, isTried }));
