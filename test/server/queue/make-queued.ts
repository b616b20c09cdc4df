import type { QueuedRecord, Taken } from '../../../src/server/queue/ports.js';
import { checked } from '../helpers/records.js';

/** All ids have one length: Redis sorts what came in one millisecond by its id. */
let made = 100_000;

const AT = 1_000;
const receivedAt = new Date(AT).toISOString();

/** A record as a server puts it into its queue. */
export const makeQueued = (user?: string, id = `record-${++made}`): QueuedRecord => ({
  ...checked({
    ...{ id, type: 'event' },
    body: {
      ...{ project: 'p', channel: 'c', event: 'e', timestamp: '2026-01-01T00:00:00.000Z' },
      ...(user !== undefined && { user_id: user }),
    },
  }),
  ...{ receivedAt, at: AT },
});

export const idsOf = (taken: readonly { record: QueuedRecord }[]): string[] =>
  taken.map(({ record }) => record.id);

export const makeIdentify = (user: string, sender?: string): QueuedRecord => ({
  ...checked({
    ...{ id: `identify-${++made}`, type: 'identify' },
    body: { project: 'p', user_id: user, properties: {} },
  }),
  ...{ receivedAt, at: AT },
  ...(sender !== undefined && { sender }),
});

/** Gives records back untried, or as failed where there is a delay. */
export const back = (taken: readonly Taken[], delayMs: number, isTried = delayMs > 0) =>
  taken.map((one) => ({ taken: one, delayMs, isTried }));
