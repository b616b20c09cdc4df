import type { DeadLetters } from './dead-command.js';
import type { Store } from '../service.js';
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
          return record ? [{ id: String(seq), record, reason, diedAt: at }] : [];
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

/** Opens the dead letters of the database. */
export const openDeadLetters = async ({
  store: { databaseUrl },
}: Places): Promise<DeadLetters & { close: () => Promise<void> }> => {
  const opened = await openStore(databaseUrl, { mustExist: true });
  return { ...deadLettersOf(opened), close: opened.close };
};
