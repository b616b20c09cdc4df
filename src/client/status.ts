import type { DestinationConsent } from './consent.js';
import type { Identity } from './identity.js';
import type { Parts } from './parts.js';
import type { DropReason, Listeners, Outcome, OutboxRecord, Status } from './types.js';

/** Tells the listeners of an event. The payload is made only if somebody listens. */
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
  parts: Parts;
  consent: DestinationConsent;
  tally: Tally;
  identity: Identity;
}

/** The status while nothing is stored or sent. */
export const idleStatus = (paused: Status['paused'], waiting: number): Status => ({
  storage: 'none',
  consent: 'granted',
  waiting,
  elsewhere: undefined,
  inFlight: 0,
  delivered: 0,
  unknown: 0,
  dropped: {},
  paused,
  nextAttempt: undefined,
  userId: undefined,
});

export const statusOf = ({ parts, consent, tally, identity }: Sources): Status => {
  const { journal, outbox, flusher } = parts;
  const [, until] = flusher.pause();
  return {
    storage: journal.kind(),
    consent: consent.current(),
    waiting: outbox.waiting(),
    elsewhere: outbox.elsewhere(),
    inFlight: flusher.inFlight(),
    ...tally.counts(),
    paused: flusher.reason(),
    nextAttempt: until || undefined,
    userId: identity.current(),
  };
};
