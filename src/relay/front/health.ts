import type { ConsumerHealth } from '../delivery/consumer.js';
import type { ServiceState } from '../delivery/backoff.js';
import { answerWords } from '../delivery/upstream.js';
import { answerJson } from './answers.js';

interface Facts {
  /** Why records cannot be taken, where that is so. */
  problem: string | undefined;
  service: ServiceState;
  consumer: ConsumerHealth | undefined;
  now: number;
}

const iso = (time: number): string => new Date(time).toISOString();

/** What the last failure of the service was, in words. */
const reasonOf = (status: number): string =>
  status ? answerWords(status) : 'the service does not answer';

/**
 * The answer to a request for the relay's health. It is 503 only if the relay cannot take records: a service that
 * is away is no reason to restart the relay, or to send its visitors elsewhere.
 */
export const answerHealth = ({ problem, service, consumer, now }: Facts): Response => {
  const { trouble, lastSuccess } = service;
  const { waiting, dead, oldest } = consumer?.queue ?? {};
  return answerJson(problem ? 503 : 200, {
    status: problem ? 'failing' : 'ok',
    ...(problem && { problem }),
    service: {
      status: trouble ? 'failing' : lastSuccess === undefined ? 'unknown' : 'ok',
      ...(trouble && {
        reason: reasonOf(trouble.status),
        since: iso(trouble.since),
        paused_until: iso(trouble.until),
      }),
      ...(lastSuccess !== undefined && { last_success: iso(lastSuccess) }),
    },
    ...(consumer?.queue && {
      queue: {
        ...{ waiting, dead },
        oldest_s: oldest === undefined ? 0 : Math.max(0, Math.round((now - oldest) / 1_000)),
      },
    }),
  });
};
