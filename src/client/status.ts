import type { ConsentKeeper } from './consent.js';
import type { Identity } from './identity.js';
import type { Keeper } from './keeper.js';
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

interface Sources {
  keeper: Keeper;
  consent: ConsentKeeper;
  tally: Tally;
  identity: Identity;
}

/** How things stand. */
export const statusOf = ({ keeper, consent, tally, identity }: Sources): Status => {
  const { journal, outbox, flusher } = keeper.parts() ?? {};
  const [paused, until] = flusher?.pause() ?? ['consent' as const, 0];
  return {
    storage: journal?.kind() ?? 'none',
    consent: consent.current(),
    waiting: outbox?.waiting() ?? keeper.held(),
    elsewhere: outbox?.elsewhere(),
    inFlight: flusher?.inFlight() ?? 0,
    ...tally.counts(),
    paused,
    nextAttempt: until || undefined,
    userId: identity.current(),
  };
};
