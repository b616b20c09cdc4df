import type { DeadLetters } from '../relay-redis.js';
import type { Refused, Store } from '../service.js';
import { openQueue } from './open-queue.js';
import { openStore } from './open-store.js';
import type { Places } from './settings.js';

/** The records that the database has refused, as dead letters. Their ids are their numbers among the refused. */
export const deadLettersOf = (store: Store): DeadLetters => {
  const seqsOf = (ids: readonly string[]): number[] => ids.map(Number).filter(Number.isSafeInteger);

  const letterOf = ({ seq, received_at, message }: Refused, record: DeadRecord) => ({
    ...{ id: String(seq), record: { ...record, at: Date.parse(record.receivedAt) } },
    ...{ reason: message, diedAt: Date.parse(received_at) },
  });

  return {
    list: async ({ limit = 100, after = '0' } = {}) => {
      for (let place = Number(after); ;) {
        const page = await store.refused({ after: place, limit });
        const dead = page.filter(({ isDead }) => isDead);
        const kept = await store.dead(dead.map(({ seq }) => seq));
        const records = new Map(kept.map(({ seq, record }) => [seq, record]));
        const letters = dead.flatMap((one) => {
          const record = records.get(one.seq);
          return record ? [letterOf(one, record)] : [];
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

type DeadRecord = Awaited<ReturnType<Store['dead']>>[number]['record'];

/** Opens the one place where this program keeps what could not be stored: the queue to a service, or the database. */
export const openDeadLetters = async ({
  service,
  queue,
  store: { databaseUrl },
}: Places): Promise<DeadLetters & { close: () => Promise<void> }> => {
  if (!service) {
    const store = await openStore(databaseUrl, { mustExist: true });
    return { ...deadLettersOf(store), close: store.close };
  }
  if (!queue)
    throw new Error(
      'with `SERVICE_URL` dead letters are kept in a queue alone: give `QUEUE_URL`. Without one, pages hear of each refusal at once',
    );
  const opened = await openQueue(queue);
  return { ...opened.queue.deadLetters, close: opened.close };
};
