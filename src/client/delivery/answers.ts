import { waitInTrouble } from '../../interface/backoff.js';
import { drop, finish, putBack, type Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import { isOffline, now } from '../page.js';
import type { DeliveryError, Status } from '../types.js';
import type { Backoff } from './backoff.js';
import type { Answer } from './send/sender.js';
import type { TokenSource } from './send/token.js';

/** Failures in a row without an answer after which the developer is told. */
const SILENT = 3;

/** What answers mean for records and for their destination. */
export const createAnswers = (outbox: Outbox, backoff: Backoff, token?: TokenSource) => {
  /** Requests at a time, and records in one: 1 after a failure, then 2, 4, and so on. */
  let width = Infinity;
  /** Why the last failure has closed the gate: for people, since no rule depends on it. */
  let reason: Status['paused'] = 'backoff';
  /** Failures in a row without an answer. */
  let silent = 0;
  /**
   * Time of the last success. A record whose first failure is older than that has a problem of its own, so it does not
   * close the gate.
   */
  let passedAt = 0;
  /** The last record passed although the browser said that it is offline, so that statement is ignored. */
  let isHintWrong: boolean | undefined;
  /**
   * Kinds of errors that were reported. `unreachable` is reported again after a success, the others after the set-up has
   * changed or the network was away.
   */
  const reported = new Set<string>();

  const reportOnce = (kind: DeliveryError['kind'], message: string, status = 0): void => {
    if (!reported.has(kind)) outbox.emit('error', { kind, message, status: status || undefined });
    reported.add(kind);
  };

  /** The service has taken a record, or refused it in a proper way. */
  const passed = () => {
    silent = 0;
    width *= 2;
    passedAt = now();
    isHintWrong = isOffline();
    reported.delete('unreachable');
    backoff.passed();
  };

  /** The destination fails. */
  const failed = ({ outcome, status, retryAfterMs, problem }: Answer): void => {
    silent = status ? 0 : silent + 1;
    width = 1;
    reason = 'backoff';
    if (outcome === 'blocked') reason = 'setup';
    else if (isOffline()) reason = 'offline';
    else if (silent >= SILENT) {
      reason = 'unreachable';
      reportOnce('unreachable', problem);
    }
    if (outbox.database) backoff.failed(retryAfterMs); // a listener may have denied consent
  };

  return {
    /**
     * Applies the answers of a request, one for each record, which ends or waits again, and to the destination.
     * @param since when the trouble of the destination had begun as the request started; 0 if it had none
     */
    conclude: (group: readonly Entry[], answers: readonly Answer[], since: number): void => {
      const isShared = answers[0] === answers[1];
      // A batch that is refused by one answer says nothing about each record: smaller ones show which it was.
      const isWhole = isShared && answers[0]!.outcome === 'rejected';
      /** Other records have passed since these began to fail. */
      const isOwn = group.every(({ record }) => record.failedSince! < passedAt);
      /** One for all, so that records that failed together are sent together again. */
      const random = Math.random();
      let worst: Answer | undefined;
      let hasPassed = isWhole;
      group.forEach((entry, i) => {
        const answer = answers[i]!;
        const { status, problem, retryAfterMs } = answer;
        // Something on the way takes other records, and finds this one too large.
        const isTooLarge = status === 413 && isOwn && !isShared;
        const outcome = isWhole ? 'retry' : isTooLarge ? 'rejected' : answer.outcome;
        const { record } = entry;
        if (outcome === 'delivered' || outcome === 'rejected') {
          hasPassed = true;
          if (outcome === 'delivered') finish(outbox, entry);
          else drop(outbox, entry, outcome, problem);
        } else {
          putBack(outbox, entry);
          const hasRunOut = status === 401 && token?.forget() && !since;
          if (outcome === 'blocked' && !hasRunOut) reportOnce('setup', problem, status);
          if (!isWhole) {
            const time = now();
            const first = (record.failedSince = Math.min(record.failedSince || time, time));
            record.due = time + waitInTrouble(time - first, random);
          }
          if (!worst || retryAfterMs > worst.retryAfterMs) worst = answer;
        }
        outbox.emit('outcome', { record, outcome, status: status || undefined });
      });
      if (hasPassed) passed();
      if (worst && (worst.retryAfterMs || !(hasPassed || isOwn))) failed(worst);
    },
    width: (): number => width,
    silent: (): number => silent,
    /** Whether the browser says that there is no network, and was right the last time. */
    isCutOff: (): boolean => isOffline() && !isHintWrong,
    reason: (): Status['paused'] => reason,
    /** There is no token, so the service is not asked at all. */
    lacksToken: (problem: string): void => {
      reportOnce('token', problem);
      failed({ outcome: 'blocked', status: 401, retryAfterMs: 0, problem });
    },
    /** The network is back: what was reported may be over. */
    online: (): void => {
      reported.clear();
      silent = 0;
    },
  };
};
