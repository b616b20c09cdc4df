import type { Tell } from '../hooks.js';
import type { Store } from '../store/port.js';
import { readDelays } from './delays.js';
import { startExport } from './export.js';
import type { Target } from './target.js';

/** How often the delays of the targets are measured. */
const MEASURE_MS = 10_000;

interface Parts {
  store: Pick<Store, 'rows' | 'lastPlace' | 'follow' | 'progress'>;
  targets: readonly Target[];
  tell: Tell;
}

/** Fills targets, and measures the delays of all, until the returned function is called. A target that is away holds up no other one. */
export const startExports = ({ store, targets, tell }: Parts): (() => Promise<void>) => {
  const stops = targets.map((target) => startExport({ store, target, tell }));
  const measure = async (): Promise<void> => {
    for (const { name, behind, delay_ms } of await readDelays(store, Date.now())) {
      tell.metric('export_behind', behind, { target: name });
      tell.metric('export_delay_ms', delay_ms, { target: name });
    }
  };
  // If the database is away, writes report it.
  const measuring = setInterval(() => void measure().catch(() => {}), MEASURE_MS);
  return async () => {
    clearInterval(measuring);
    await Promise.all(stops.map((stop) => stop()));
    await Promise.all(targets.map(({ close }) => close?.()));
  };
};
