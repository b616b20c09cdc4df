import type { DropReason, Listeners, Outcome, OutboxRecord, Status } from './types.js';

/** The payload is made only where somebody listens. */
export type Emit = <Type extends keyof Listeners>(
  type: Type,
  payload: () => Listeners[Type],
) => void;

/** Counts what becomes of records, and tells the listeners. */
export const createTally = (emit: Emit) => {
  const counts = { delivered: 0, unknown: 0 };
  const dropped: Status['dropped'] = {};

  return {
    counts: (): Pick<Status, 'delivered' | 'unknown' | 'dropped'> => ({
      ...counts,
      dropped: { ...dropped },
    }),
    drop: (reason: DropReason, message: string, record?: OutboxRecord): void => {
      dropped[reason] = (dropped[reason] ?? 0) + 1;
      emit('drop', () => (record ? { reason, message, record } : { reason, message }));
    },
    outcome: (record: OutboxRecord, outcome: Outcome, status = 0): void => {
      if (outcome === 'delivered' || outcome === 'unknown') counts[outcome]++;
      emit('outcome', () => ({ record: { ...record }, outcome, ...(status && { status }) }));
    },
  };
};

export type Tally = ReturnType<typeof createTally>;
