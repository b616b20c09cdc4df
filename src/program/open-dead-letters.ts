import type { DeadLetters } from '../relay-redis.js';
import type { Store } from '../service.js';
import { openQueue } from './open-queue.js';
import { openStore } from './open-store.js';
import type { Places } from './settings.js';

/** The records that the database has refused, as dead letters. Their ids are their places among the refused. */
const deadLettersOf = (store: Store): DeadLetters => {
  const seqsOf = (ids: readonly string[]): number[] => ids.map(Number).filter(Number.isSafeInteger);

  return {
    list: async ({ limit = 100, after = '0' } = {}) => {
      for (let place = Number(after); ;) {
        const page = await store.refused({ after: place, limit });
        const dead = page.filter(({ isDead }) => isDead);
        const kept = await store.dead(dead.map(({ seq }) => seq));
        const records = new Map(kept.map(({ seq, record }) => [seq, record]));
        const letters = dead.flatMap(({ seq, message: reason, received_at }) => {
          const record = records.get(seq);
          const at = Date.parse(received_at);
          return record ? [{ id: String(seq), record: { ...record, at }, reason, diedAt: at }] : [];
        });
        if (letters.length || !page.length) return letters;
        place = page.at(-1)!.seq;
      }
    },
    resend: async (ids) => {
      const resent = await store.resend(seqsOf(ids));
      return resent.filter(({ outcome }) => outcome !== 'dead').length;
    },
    purge: (ids) => store.purge(seqsOf(ids)),
  };
};

/** Opens the dead letters of the program: those of the queue to a service, or those of the database. */
export const openDeadLetters = async (
  places: Places,
): Promise<DeadLetters & { close: () => Promise<void> }> => {
  const { service, queue, store } = places;
  if (!service) {
    const opened = await openStore(store.databaseUrl, { mustExist: true });
    return { ...deadLettersOf(opened), close: opened.close };
  }
  if (!queue) throw new Error('with `SERVICE_URL` only a queue has dead letters: give `QUEUE_URL`');
  const opened = await openQueue(queue);
  return { ...opened.queue.deadLetters, close: opened.close };
};
