import { shelf } from '../../src/client/page.js';
import type { Ledger } from './calls/ledger.js';

const SAVE_MS = 300;
const CLEARED = 'demo cleared';

/** When the database was last emptied, by any tab. */
export const clearedAt = (): number => Number(shelf.get(CLEARED) ?? 0);

interface Effects {
  ledger: Ledger;
  onChange: () => void;
}

/** Keeps the ledgers of all tabs in step, through localStorage and its events. */
export const keepLedgerShared = ({ ledger, onChange }: Effects) => {
  let timer: ReturnType<typeof setTimeout> | undefined;

  const save = () => {
    clearTimeout(timer);
    timer = undefined;
    ledger.save();
  };

  addEventListener('storage', ({ key }) => {
    if (!key?.startsWith('demo')) return;
    if (key === CLEARED) ledger.forgetSettled({ everywhere: false });
    else ledger.readOthers();
    onChange();
  });
  addEventListener('pagehide', save);

  return {
    saveSoon: (): void => {
      timer ??= setTimeout(save, SAVE_MS);
    },
    /** Forgets the calls that have come to their end, here and in the other tabs. */
    forgetSettled: (): void => {
      shelf.set(CLEARED, String(Date.now()));
      ledger.forgetSettled({ everywhere: true });
    },
    /** Forgets all calls, but for those of other tabs that are still on the way. */
    forgetAll: (): void => {
      ledger.forgetAll();
      shelf.set(CLEARED, String(Date.now()));
    },
  };
};
