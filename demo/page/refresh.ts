import type { Consent } from '../../src/client/types.js';
import type { Ledger } from './calls/ledger.js';
import { tallyOf, verdictOf } from './calls/verdict.js';
import type { WatchedService } from './database/watch-service.js';
import { tracker } from './tracker.js';
import { createHealthView } from './views/health-view.js';
import { createNextAttempt } from './views/next-attempt.js';
import { createRecordsView } from './views/records-view.js';
import { createRowsView } from './views/rows-view.js';
import { createStatusView } from './views/status-view.js';
import { createTallyView } from './views/tally-view.js';

/** The countdown moves this often. */
const TICK_MS = 200;

interface Effects {
  ledger: Ledger;
  service: WatchedService;
  showConsent: (consent: Consent | undefined) => void;
  /** When the database was last emptied, by any tab. */
  clearedAt: () => number;
  now: () => number;
}

/** Draws what has changed, once a frame at the most, and the status a few times a second. */
export const createRefresh = ({ ledger, service, showConsent, clearedAt, now }: Effects) => {
  const showTally = createTallyView();
  const showHealth = createHealthView();
  const showStatus = createStatusView();
  const showNextAttempt = createNextAttempt();
  const showRecords = createRecordsView();
  const showRows = createRowsView();
  let drawn = '';
  let isWanted = false;

  const status = () => {
    const told = tracker().status?.();
    showStatus(told, now());
    showNextAttempt(told, now());
    showConsent(told?.consent);
  };

  const judge = () =>
    ledger.all().flatMap((call) => {
      const verdict = verdictOf(call, {
        stored: service.stored(call.id),
        isRead: service.readAt() > call.fate.at,
        isCleared: clearedAt() >= call.at,
      });
      return verdict ? { call, verdict } : [];
    });

  const draw = () => {
    isWanted = false;
    status();
    const version = `${ledger.version()} ${service.version()}`;
    if (version === drawn) return;
    drawn = version;
    const calls = judge();
    showTally(tallyOf(calls.map(({ verdict }) => verdict)));
    showRecords(calls);
    showRows({
      events: service.events(),
      identifies: service.identifies(),
      total: service.total(),
    });
    showHealth({ health: service.health(), faults: service.faults() });
  };

  setInterval(() => {
    if (document.visibilityState === 'visible') status();
  }, TICK_MS);

  return {
    soon: (): void => {
      if (isWanted) return;
      isWanted = true;
      requestAnimationFrame(draw);
    },
  };
};
