import type { FaultRule } from '../../server/faults/fault-rule.js';
import { DEMO_ID } from '../calls/call.js';
import type { CountedRule } from '../../server/faults/fault-switch.js';

export interface EventRow {
  id: number;
  channel: string;
  event: string;
  description: string | null;
  icon: string | null;
  notify: boolean;
  tags: Record<string, unknown>;
  user_id: string | null;
  timestamp: string;
  received_at: string;
}

export interface IdentifyRow {
  id: number;
  user_id: string;
  properties: Record<string, unknown>;
  received_at: string;
}

export interface RowsPage<Row> {
  rows: Row[];
  total: number;
}

const PATIENCE_MS = 5_000;

/** The reading side of the service, and its fault switch. */
export const createServiceClient = (service: string, project: string) => {
  const ask = async (path: string, init?: RequestInit): Promise<unknown> => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(`${service}/_/${path}`, { ...init, signal });
    if (!response.ok) throw new Error(`the service answered ${response.status}`);
    return response.json();
  };
  const list = async <Row>(table: string, after: number): Promise<RowsPage<Row>> => {
    const query = new URLSearchParams({ project, after: String(after) });
    const answer = (await ask(`${table}?${query}`)) as Record<string, Row[]> & { total: number };
    return { rows: answer[table] ?? [], total: answer.total };
  };

  return {
    events: (after: number) => list<EventRow>('events', after),
    identifies: (after: number) => list<IdentifyRow>('identifies', after),
    faults: async (): Promise<CountedRule[]> =>
      ((await ask('faults')) as { faults: CountedRule[] }).faults,
    setFaults: (rules: readonly FaultRule[]): Promise<unknown> =>
      ask('faults', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(rules),
      }),
    clear: (): Promise<unknown> => ask('records', { method: 'DELETE' }),
    /** Deletes the records that the demo has made: those of a page of the visitor's own stay. */
    clearOwn: (): Promise<unknown> => ask(`records?with=${DEMO_ID}`, { method: 'DELETE' }),
    /** The same; it also ends all faults, and cuts the requests that they hold up. */
    clearStage: (): Promise<unknown> => ask(`all?with=${DEMO_ID}`, { method: 'DELETE' }),
  };
};

export type ServiceClient = ReturnType<typeof createServiceClient>;
