import type { CountedRule } from '../../server/faults/fault-switch.js';
import { demoIdIn } from '../calls/call.js';
import type { ServiceClient } from './service-client.js';
import { createTableReader } from './table-reader.js';

const KEPT_ROWS = 100;

export type Health = 'asking' | 'reached' | 'unreachable';

interface Effects {
  client: ServiceClient;
  now: () => number;
}

/** What the service's database holds, and which faults are set, as of the last look. */
export const watchService = ({ client, now }: Effects) => {
  const events = createTableReader({
    page: client.events,
    demoId: ({ tags }) => demoIdIn(tags),
    keep: KEPT_ROWS,
  });
  const identifies = createTableReader({
    page: client.identifies,
    demoId: ({ properties }) => demoIdIn(properties),
    keep: KEPT_ROWS,
  });
  let health: Health = 'asking';
  let faults: readonly CountedRule[] = [];
  let readAt = 0;
  let version = 0;

  const look = async (): Promise<void> => {
    const startedAt = now();
    try {
      const [, , rules] = await Promise.all([events.read(), identifies.read(), client.faults()]);
      faults = rules;
      health = 'reached';
      readAt = startedAt;
    } catch {
      health = 'unreachable'; // offline, or the service is down: the next look will tell
    }
    version++;
  };

  return {
    look,
    health: () => health,
    faults: () => faults,
    /** How often the database holds the record of a call. */
    stored: (id: string): number => events.count(id) + identifies.count(id),
    total: (): number => events.total() + identifies.total(),
    events: events.latest,
    identifies: identifies.latest,
    /** When the last look that succeeded began. */
    readAt: (): number => readAt,
    version: (): number => version,
  };
};

export type WatchedService = ReturnType<typeof watchService>;
