import type { DeadLetter, DeadLetters, QueuedRecord } from '../ports.js';
import { QueueFullError } from '../queue-full.js';
import { createScript, type RedisClient } from './client.js';
import { putArgsOf, type createQueueKeys } from './keys.js';
import { RESEND } from './scripts.js';

interface Effects {
  client: RedisClient;
  keys: ReturnType<typeof createQueueKeys>;
  maxWaiting: number;
  now: () => number;
}

/** An entry of the stream: its id begins with the milliseconds at which it was added. */
type Entry = [id: string, fields: ['r', record: string, 'reason', reason: string]];

const readEntry = ([id, [, record, , reason]]: Entry): DeadLetter => ({
  id,
  record: JSON.parse(record) as QueuedRecord,
  reason,
  diedAt: parseInt(id, 10),
});

/** Redis refuses a whole command in which one id has another form. */
const isEntryId = (id: string): boolean => /^\d+-\d+$/.test(id);

export const createRedisDeadLetters = (effects: Effects): DeadLetters => {
  const { client, keys, maxWaiting, now } = effects;
  const { dead } = keys;
  const resend = createScript(client, RESEND);

  const range = async (from: string, to: string, limit: number): Promise<DeadLetter[]> => {
    const args = ['XRANGE', dead, from, to, 'COUNT', String(limit)];
    return ((await client.sendCommand(args)) as Entry[]).map(readEntry);
  };

  return {
    list: ({ limit = 100, after } = {}) => range(after ? `(${after}` : '-', '+', limit),
    resend: async (ids) => {
      const letters = (
        await Promise.all(ids.filter(isEntryId).map((id) => range(id, id, 1)))
      ).flat();
      if (!letters.length) return 0;
      const args = letters.flatMap(({ id, record }) => [
        id,
        ...putArgsOf({ ...record, at: now() }),
      ]);
      const resent = await resend({ keys: keys.all, args: [keys.lanes, maxWaiting, ...args] });
      if (resent === -1) throw new QueueFullError(maxWaiting);
      return Number(resent);
    },
    purge: async (ids) => {
      const known = ids.filter(isEntryId);
      return known.length ? Number(await client.sendCommand(['XDEL', dead, ...known])) : 0;
    },
  };
};
