import type { EventFields } from '../../../src/client/types.js';
import { tracker } from '../tracker.js';
import { DEMO_ID, type DemoCall } from './call.js';
import type { Ledger } from './ledger.js';

interface Effects {
  ledger: Ledger;
  visit: string;
  now: () => number;
}

/** An event to be sent. Loosely typed: a demo must be able to call wrongly. */
export interface DemoEvent {
  name: string;
  fields?: EventFields;
  /** Makes tags JSON cannot carry. */
  spoil?: (tags: Record<string, unknown>) => void;
}

/** A call that was made. */
interface Made {
  id: string;
  /** Why it was dropped during the call, where it was. */
  droppedFor: string | undefined;
}

/** Makes calls that can be found again: each carries its `demo_id` and stands in the ledger first. */
export const createCaller = ({ ledger, visit, now }: Effects) => {
  let count = 0;
  let current: string | undefined;

  const note = (type: DemoCall['type'], name: string): DemoCall => ({
    id: `${visit.slice(-4)}-${++count}`,
    type,
    name,
    at: now(),
  });

  const during = (id: string, call: () => unknown): void => {
    current = id;
    call();
    current = undefined;
  };

  const made = (id: string): Made => {
    const fate = ledger.fateOf(id);
    return { id, droppedFor: fate?.kind === 'dropped' ? fate.detail : undefined };
  };

  /** All in one task, and in the ledger by one write. Answers with their ids. */
  const events = (wanted: readonly DemoEvent[]): string[] => {
    const calls = wanted.map(({ name }) => note('event', name));
    ledger.add(calls);
    wanted.forEach(({ name, fields, spoil }, i) => {
      const { id } = calls[i]!;
      const tags: Record<string, unknown> = { ...fields?.tags, [DEMO_ID]: id };
      spoil?.(tags);
      during(id, () => tracker().event(name, { ...fields, tags }));
    });
    return calls.map(({ id }) => id);
  };

  return {
    events,
    event: (name: string, fields: EventFields = {}): Made => made(events([{ name, fields }])[0]!),
    identify: (userId: string, properties: object): Made => {
      const call = note('identify', userId);
      ledger.add([call]);
      during(call.id, () => tracker().identify(userId, { ...properties, [DEMO_ID]: call.id }));
      return made(call.id);
    },
    /** The id that the next event will have: for a fault that is to meet it. */
    nextId: (offset = 0): string => `${visit.slice(-4)}-${count + 1 + offset}`,
    /** The call that is being made: a call that becomes no record is dropped while it is made. */
    current: (): string | undefined => current,
  };
};

export type Caller = ReturnType<typeof createCaller>;
