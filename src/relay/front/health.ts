import type { ServiceState } from '../delivery/backoff.js';
import { answerWords } from '../delivery/upstream.js';
import type { QueueSize } from '../queue/ports.js';

/** How a relay stands. Times are in ISO 8601. */
export interface RelayHealth {
  /** `failing` only if the relay cannot take records: a service that is away is no reason to restart the relay. */
  status: 'ok' | 'failing';
  /** Why records cannot be taken, where that is so. */
  problem?: string;
  service: {
    status: 'ok' | 'failing' | 'unknown';
    /** What its last failure was. */
    reason?: string;
    since?: string;
    paused_until?: string;
    /** Records that it refuses while it takes others: whose they are, how many, and why. They hold up nobody. */
    refusing?: {
      whose: 'one client' | 'some records';
      records: number;
      reason: string;
      since: string;
    };
    last_success?: string;
  };
  /** Given where the consumer of the queue is in this process, and the queue can say how full it is. */
  queue?: { waiting: number; dead: number; oldest_s: number };
}

interface Facts {
  problem: string | undefined;
  service: ServiceState;
  queue: QueueSize | undefined;
  now: number;
}

const iso = (time: number): string => new Date(time).toISOString();
/** When a failure began, and what the last answer was. */
const failureOf = ({ status, since }: { status: number; since: number }) => ({
  reason: status ? answerWords(status) : 'the service does not answer',
  since: iso(since),
});

export const healthOf = ({ problem, service, queue, now }: Facts): RelayHealth => {
  const { trouble, failing, lastSuccess } = service;
  const usual = lastSuccess === undefined ? 'unknown' : 'ok';
  return {
    status: problem ? 'failing' : 'ok',
    ...(problem && { problem }),
    service: {
      status: trouble ? 'failing' : usual,
      ...(trouble && { ...failureOf(trouble), paused_until: iso(trouble.until) }),
      ...(failing && {
        refusing: { whose: failing.whose, records: failing.records, ...failureOf(failing) },
      }),
      ...(lastSuccess !== undefined && { last_success: iso(lastSuccess) }),
    },
    ...(queue && {
      queue: {
        waiting: queue.waiting,
        dead: queue.dead,
        oldest_s: Math.round(Math.max(0, now - (queue.oldest ?? now)) / 1_000),
      },
    }),
  };
};
