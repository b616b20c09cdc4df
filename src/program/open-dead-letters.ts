import type { DeadLetter, DeadLetters } from './dead-command.js';
import type { Store } from '../service.js';
import { openStore } from './open-store.js';
import type { Places } from './settings.js';

/** What the database and the targets have refused, as dead letters. Their ids are their places among the refused. */
const deadLettersOf = (store: Store): DeadLetters => {
  const seqsOf = (ids: readonly string[]): number[] => ids.map(Number).filter(Number.isSafeInteger);

  return {
    list: async ({ limit = 100, after = '0' } = {}) => {
      for (let place = Number(after); ;) {
        const page = await store.refused({ after: place, limit });
        const dead = page.filter(({ isDead }) => isDead);
        const kept = await store.dead(dead.map(({ seq }) => seq));
        const records = new Map(kept.map(({ seq, record }) => [seq, record]));
        const letters = dead.map(({ seq, message: reason, received_at, target, ...row }) => {
          const { id = '', type } = row;
          const named = {
            id,
            ...(type && { type }),
            body: { project: row.project, user_id: row.user_id },
          };
          return {
            ...{ id: String(seq), target, reason, diedAt: Date.parse(received_at) },
            record: records.get(seq) ?? (named as DeadLetter['record']),
          };
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
