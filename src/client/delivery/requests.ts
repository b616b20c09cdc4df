import { waitInTrouble } from '../../interface/backoff.js';
import type { Entry } from '../outbox/parcel.js';
import { isOffline } from '../page.js';
import type { Outbox } from '../outbox/outbox.js';
import type { Destination } from '../destination.js';
import type { DeliveryError, Status } from '../types.js';
import { KEEPALIVE_BUDGET } from './send/post.js';
import type { Attempt, Send } from './send/sender.js';
import type { TokenSource } from './token.js';
import type { Trouble } from './trouble.js';

/** Bytes of a batch that stand around a body, with the record's id. */
const AROUND = 107;
/** Failures in a row without an answer after which the developer is told. */
const SILENT = 3;

interface Request {
  group: Entry[];
  controller: AbortController;
  /** Bytes under keepalive. */
  kept: number;
}

interface Parts {
  outbox: Outbox;
  trouble: Trouble;
  token: TokenSource;
  send: Send;
  /** Called when a request has ended. */
  onEnd: () => void;
}

export const weigh = (group: readonly Entry[]): number =>
  group.reduce((sum, { bytes }) => sum + bytes + AROUND, 0);

/** The requests that are under way, and what their answers mean. */
export const createRequests = (
  { now, emit }: Destination,
  { outbox, trouble, token, send, onEnd }: Parts,
) => {
  const running = new Set<Request>();
  /** What the developer was told: silence since the last success, a wrong set-up once until that changes. */
  const told = new Set<string>();
  const state = {
    /** Requests at a time, and records in one: 1 after a failure, then 2, 4, and so on. */
    width: Infinity,
    /** Why the last failure has closed the gate: for people, since no rule depends on it. */
    reason: 'backoff' as Status['paused'],
  };
  let silent = 0;
  /** When a record passed last. What has failed since before is trouble of its own, and stops no others. */
  let passedAt = 0;

  const tell = (kind: DeliveryError['kind'], message: string, status = 0) => {
    if (!told.has(kind)) emit('error', { kind, message, ...(status && { status }) });
    told.add(kind);
  };

  const room = () => [...running].reduce((left, { kept }) => left - kept, KEEPALIVE_BUDGET);

  /** The service has taken a record, or refused it in a proper way. */
  const passed = () => {
    silent = 0;
    passedAt = now();
    state.width *= 2;
    token.passed();
    told.delete('unreachable');
    const { since, asked } = trouble.read();
    if (since && !asked) trouble.end(); // a wait that the service has asked for goes on
  };

  /** The destination is in trouble. */
  const failed = ({ outcome, status, retryAfterMs, problem }: Attempt) => {
    silent = status ? 0 : silent + 1;
    state.width = 1;
    state.reason = 'backoff';
    if (outcome === 'blocked') {
      state.reason = 'setup';
    } else if (isOffline()) state.reason = 'offline';
    else if (silent >= SILENT) {
      state.reason = 'unreachable';
      tell('unreachable', problem);
    }
    trouble.failed(retryAfterMs);
  };

  const conclude = (group: readonly Entry[], attempts: readonly Attempt[]) => {
    // A batch that is refused as a whole says nothing about each record: smaller ones show which it was.
    const isWhole =
      group.length > 1 &&
      attempts.every(({ outcome, status }) => outcome === 'rejected' && status !== 200);
    let worst: Attempt | undefined;
    let hasPassed = isWhole;
    group.forEach((entry, i) => {
      const attempt = attempts[i]!;
      const { status, problem, retryAfterMs } = attempt;
      const outcome = isWhole ? 'retry' : attempt.outcome;
      const { record } = entry;
      if (outcome === 'delivered' || outcome === 'rejected') {
        hasPassed = true;
        if (outcome === 'delivered') outbox.finish(entry);
        else outbox.drop(entry, outcome, problem);
      } else {
        outbox.putBack(entry);
        if (outcome === 'blocked') tell('setup', problem, status);
        if (!isWhole) {
          record.failedSince ??= now();
          record.due = now() + waitInTrouble(now() - record.failedSince, Math.random);
        }
        if (!worst || retryAfterMs > worst.retryAfterMs) worst = attempt;
      }
      emit('outcome', { record, outcome, ...(status && { status }) });
    });
    if (hasPassed) passed();
    const isOwn = group.every(({ record }) => record.failedSince! < passedAt);
    if (worst && (worst.retryAfterMs || !(hasPassed || isOwn))) failed(worst);
  };

  const start = async (group: Entry[], isHandoff: boolean): Promise<void> => {
    const bytes = weigh(group);
    const keepalive = bytes <= room();
    const controller = new AbortController();
    const request: Request = { group, controller, kept: keepalive ? bytes : 0 };
    const used = token.get();
    running.add(request);
    for (const entry of group) {
      entry.record.attempts++;
      outbox.sent(entry, keepalive);
    }
    const records = group.map(({ record }) => record);
    const sending = send(records, { keepalive, controller });
    for (const record of records) emit('sent', { record, handoff: isHandoff });
    const attempts = await sending;
    // Forgotten, since the page was left; or the browser carries the request on.
    if (!running.has(request) || !attempts) return;
    running.delete(request);
    const [{ outcome, status }] = attempts as [Attempt];
    if (outcome === 'blocked' && token.isStale(used, status)) {
      for (const entry of group) outbox.putBack(entry);
      emit('outcome', { record: records[0]!, outcome, status });
    } else conclude(group, attempts);
    onEnd();
  };

  /** Forgets what is under way, since the page was left. */
  const forget = () => {
    for (const { group } of running) group.forEach(outbox.lose);
    running.clear();
  };

  return {
    start,
    tell,
    failed,
    state,
    running: running as ReadonlySet<Request>,
    room,
    /** Called when the set-up has changed, or the network is back: what was told may be over. */
    renew: (): void => {
      told.clear();
      silent = 0;
    },
    forget,
    /** Ends what is under way, since nothing may be sent any more. It may have arrived all the same. */
    abort: (): void => {
      for (const { controller } of running) controller.abort();
      forget();
    },
  };
};

export type Requests = ReturnType<typeof createRequests>;
