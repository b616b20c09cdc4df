import type { Row } from '../../src/server/store/port.js';
import type { FaultRule } from '../server/fault-rules.js';
import { DEMO_ID, demoIdIn } from './calls.js';

/** As many rows as the page shows at first, and keeps at the most. */
const MOST_ROWS = 200;
const AGAIN_MS = 1_000;

const ask = async (path: string, init?: RequestInit): Promise<unknown> => {
  const response = await fetch(`/_/${path}`, init);
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  return response.json();
};

interface Effects {
  /** Rows that have come, the oldest first. */
  onRows: (rows: readonly Row[]) => void;
  onChange: () => void;
}

/** The service as anybody can look at it: its rows as they come, and its fault switch. */
export const createService = ({ onRows, onChange }: Effects) => {
  let rows: readonly Row[] = [];
  let last = 0;
  let isReached: boolean | undefined;
  let readAt = 0;

  const take = (read: readonly Row[]): void => {
    const fresh = read.filter(({ seq }) => seq > last).sort((a, b) => a.seq - b.seq);
    last = fresh.at(-1)?.seq ?? last;
    rows = [...fresh.reverse(), ...rows].slice(0, MOST_ROWS);
    if (fresh.length) onRows(fresh.reverse());
  };
  const read = async (query: string): Promise<void> => {
    const startedAt = Date.now();
    const answer = (await ask(`rows?${query}`)) as { rows: Row[] };
    take(answer.rows);
    isReached = true;
    readAt = Math.max(readAt, startedAt);
    onChange();
  };

  /** Rows as they come, until the page ends. */
  const follow = async (): Promise<never> => {
    for (;;) {
      try {
        await read(readAt ? `after=${last}&wait=1` : `limit=${MOST_ROWS}`);
      } catch {
        isReached = false; // the demo has ended
        onChange();
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  };

  return {
    follow,
    /** Looks at all rows that there are by now. */
    look: (): Promise<void> => read(`after=${last}`),
    /** Newest first. */
    rows: () => rows,
    isReached: () => isReached,
    /** When the last look began that has seen all rows. */
    readAt: () => readAt,
    setFaults: (rules: readonly FaultRule[]) =>
      ask('faults', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(rules),
      }),
    /** Ends all faults, and the requests that they hold up. */
    heal: () => ask('faults', { method: 'DELETE' }),
    /** Deletes the rows that the demo has made: those of other senders stay. */
    deleteOwn: async (): Promise<void> => {
      await ask(`records?with=${DEMO_ID}`, { method: 'DELETE' });
      rows = rows.filter(({ body }) => demoIdIn(body) === undefined);
      onChange();
    },
  };
};

export type Service = ReturnType<typeof createService>;
