import type { Consent, Drop, Listeners, OutboxRecord } from '../client/types.js';
import type { Row } from './rows.js';

interface Entry extends Row {
  /** Held records wait for consent. */
  state: 'held' | 'waiting' | 'sent';
}

/** Keeps what a tracker tells of its records: those that the service would get, in the order of their calls. */
export const createJournal = () => {
  const entries = new Map<string, Entry>();
  const drops: Drop[] = [];
  let consent: Consent = 'granted';

  const take = {
    record: ({ id, type, body }: OutboxRecord): void => {
      entries.set(id, { type, body, state: consent === 'pending' ? 'held' : 'waiting' });
    },
    sent: ({ record }: Listeners['sent']): void => {
      const entry = entries.get(record.id);
      if (entry) entry.state = 'sent';
    },
    drop: (drop: Drop): void => {
      drops.push(drop);
      if (drop.record) entries.delete(drop.record.id);
    },
    consent: (next: Listeners['consent']): void => {
      ({ consent } = next);
      for (const [id, entry] of entries) {
        if (entry.state === 'sent') continue;
        if (consent === 'denied') entries.delete(id);
        if (consent === 'granted') entry.state = 'waiting';
      }
    },
  };

  return {
    tell: (what: string, detail: unknown): void =>
      (take as Partial<Record<string, (detail: unknown) => void>>)[what]?.(detail),
    rows: (): Row[] => [...entries.values()].filter(({ state }) => state !== 'held'),
    drops: (): Drop[] => [...drops],
    clear: (): void => {
      entries.clear();
      drops.length = 0;
    },
  };
};
