import type { Row } from '../../src/server/store/port.js';
import type { FaultRule } from '../server/fault-rules.js';
import { DEMO_ID, LANE, LANES } from './clicks.js';

const AGAIN_MS = 1_000;
/** Clicks may be stored before the first look. */
const FIRST_ROWS = 200;

const ask = async (path: string, init?: RequestInit): Promise<unknown> => {
  const response = await fetch(`/_/${path}`, init);
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  return response.json();
};

/** What goes wrong, and with which of the clicks: all of them unless a tag and its value are given. */
export type Fault = Omit<FaultRule, 'match'> & { only?: Record<string, unknown> };

/** Both ways of a click meet the same fault. Records of other pages than this demo meet none. */
const rulesOf = ({ only, ...rule }: Fault): FaultRule[] =>
  LANES.map((lane) => ({ ...rule, match: { property: { ...only, [LANE]: lane } } }));

interface Effects {
  onRow: (row: Row) => void;
  onChange: () => void;
}

/** The service as anybody can look at it: its rows as they come, and its fault switch. */
export const createService = ({ onRow, onChange }: Effects) => {
  let last = 0;
  let isReached: boolean | undefined;
  let readAt = 0;
  let isBroken = false;

  const read = async (query: string): Promise<void> => {
    const startedAt = Date.now();
    const { rows } = (await ask(`rows?${query}`)) as { rows: Row[] };
    // Two reads that overlap give the same rows.
    for (const row of rows.filter(({ seq }) => seq > last).sort((a, b) => a.seq - b.seq)) {
      last = row.seq;
      onRow(row);
    }
    isReached = true;
    readAt = Math.max(readAt, startedAt);
    onChange();
  };

  const set = async (rules: readonly FaultRule[]): Promise<void> => {
    const method = rules.length ? 'PUT' : 'DELETE';
    const body = rules.length ? JSON.stringify(rules) : null;
    await ask('faults', { method, headers: { 'content-type': 'application/json' }, body });
    isBroken = rules.length > 0;
    onChange();
  };

  return {
    /** Rows as they come, until the page ends. */
    follow: async (): Promise<never> => {
      for (;;) {
        try {
          await read(readAt ? `after=${last}&wait=1` : `limit=${FIRST_ROWS}`);
        } catch {
          isReached = false; // the demo has ended
          onChange();
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
    },
    /** Looks at all rows that there are by now. */
    look: (): Promise<void> => read(`after=${last}`),
    isReached: () => isReached,
    /** When the last look began that has seen all rows. */
    readAt: () => readAt,
    /** Whether it has been told to do something wrong. */
    isBroken: () => isBroken,
    breakBy: (fault: Fault): Promise<void> => set(rulesOf(fault)),
    /** Ends the fault, and the requests that it holds up. */
    heal: (): Promise<void> => set([]),
    /** Deletes the rows that the demo has made: those of other senders stay. */
    deleteOwn: async (): Promise<void> =>
      void (await ask(`records?with=${DEMO_ID}`, { method: 'DELETE' })),
  };
};
