import type { Claims } from './claim.js';
import type { Context } from './context.js';
import type { Ends } from './ends.js';

interface Parts {
  ends: Pick<Ends, 'drop' | 'partOver'>;
  claims: () => Pick<Claims, 'seek' | 'refill'>;
}

/** `maxRecords` and `maxBytes`: the oldest events go first, those that are away, then those in memory. */
export const createCaps = (context: Context, { ends, claims }: Parts) => {
  const { journal, limits, line, away } = context;

  const isFull = (): boolean => line.isFull(limits(), away);

  /** Drops what is too much in memory. */
  const dropSurplus = (): void => {
    let surplus;
    while (isFull() && (surplus = line.surplus())) {
      ends.drop(surplus, 'outbox-full', 'more than maxRecords or maxBytes');
    }
  };

  /** Claims what is away, of which what is too much is dropped. */
  const trim = async (): Promise<void> => {
    claims().seek();
    while (isFull() && (await claims().refill(true)));
  };

  return {
    dropSurplus,
    enforce: (): void => {
      if (!isFull()) return;
      ends.partOver();
      if (away.count > 0 && journal.kind() === 'indexeddb') void trim();
      else dropSurplus();
    },
  };
};
