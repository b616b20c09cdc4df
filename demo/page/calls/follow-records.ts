import type { OutboxRecord } from '../../../src/client/types.js';
import { tracker } from '../tracker.js';
import { demoIdIn, type Fate } from './call.js';
import type { Caller } from './caller.js';
import type { Ledger } from './ledger.js';

interface Effects {
  ledger: Ledger;
  caller: Caller;
  /** Something happened. */
  onChange: () => void;
}

const idOf = (record: OutboxRecord | undefined): string | undefined => {
  if (!record) return undefined;
  const { tags, properties } = JSON.parse(record.body) as { tags?: unknown; properties?: unknown };
  return demoIdIn(tags ?? properties);
};

/** Keeps the ledger told of what becomes of each record, until the tracker is stopped. */
export const followRecords = ({ ledger, caller, onChange }: Effects): void => {
  const { on } = tracker();
  const tell = (id: string | undefined, kind: Fate['kind'], detail?: string) => {
    if (id !== undefined) ledger.setFate(id, kind, detail);
    onChange();
  };

  on('record', (record) => tell(idOf(record), 'waiting'));
  on('sent', ({ record, handoff }) =>
    tell(idOf(record), 'in flight', handoff ? 'handed to the browser' : undefined),
  );
  on('outcome', ({ record, outcome, status }) => {
    const id = idOf(record);
    if (outcome === 'delivered' || outcome === 'unknown') tell(id, outcome);
    // What is rejected is also dropped, and the drop has the reason.
    else if (outcome !== 'rejected') tell(id, 'again', status ? `after ${status}` : 'no answer');
  });
  on('drop', ({ record, reason }) => tell(idOf(record) ?? caller.current(), 'dropped', reason));
};
