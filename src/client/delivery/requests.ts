import { waitInTrouble } from '../../interface/backoff.js';
import { attempt } from '../../interface/attempt.js';
import { onNavigation } from '../life.js';
import { isOffline } from '../page.js';
import type { Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import { drop, finish, lose, putBack, sent } from '../outbox/records.js';
import type { DeliveryError, Status } from '../types.js';
import { KEEPALIVE_BUDGET } from './send/post.js';
import type { Attempt, Send } from './send/sender.js';
import type { TokenSource } from './token.js';
import type { Trouble } from './trouble.js';

/** Bytes of a batch that stand around a body, with the record's id. */
const AROUND = 133;
/** Failures in a row without an answer after which the developer is told. */
const SILENT = 3;
/** A request that ends without an answer this long before its timeout, or later, has timed out: clocks are not exact. */
const SLACK_MS = 1_000;

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

/** The requests to one destination, and what their answers have told. */
export const createRequests = ({ outbox, trouble, token, send, onEnd }: Parts) => {
  /** Requests that are under way, by what ends them, each with what ends its listening to navigations. */
  const running = new Map<AbortController, [group: Entry[], settled?: (() => void) | undefined]>();
  /** Bytes that the browser still takes under keepalive. */
  let room = KEEPALIVE_BUDGET;
  /** Requests at a time, and records in one: 1 after a failure, then 2, 4, and so on. */
  let width = Infinity;
  /** Why the last failure has closed the gate: for people, since no rule depends on it. */
  let reason: Status['paused'] = 'backoff';
  /** Failures in a row without an answer. */
  let silent = 0;
  /** Time of the last success. A record whose first failure is older has a problem of its own, and stops no others. */
  let passedAt = 0;
  /** The last record passed although the browser said that it is offline, so that statement is ignored. */
  let isHintWrong: boolean | undefined;
  /**
   * Kinds of errors that the developer was told already. `unreachable` is told again after a success, the others after
   * the set-up has changed or the network was away.
   */
  const told = new Set<string>();

  /** Tells the developer what is wrong, once. */
  const tellOnce = (kind: DeliveryError['kind'], message: string, status = 0): void => {
    if (!told.has(kind)) outbox.emit('error', { kind, message, status: status || undefined });
    told.add(kind);
  };

  /** The service has taken a record, or refused it in a proper way. */
  const passed = () => {
    silent = 0;
    width *= 2;
    passedAt = outbox.now();
    isHintWrong = isOffline();
    told.delete('unreachable');
    if (!trouble.read().isAsked) trouble.end(); // a wait that the service has asked for goes on
  };

  /** The destination is in trouble. */
  const failed = ({ outcome, status, retryAfterMs, problem }: Attempt): void => {
    silent = status ? 0 : silent + 1;
    width = 1;
    reason = 'backoff';
    if (outcome === 'blocked') reason = 'setup';
    else if (isOffline()) reason = 'offline';
    else if (silent >= SILENT) {
      reason = 'unreachable';
      tellOnce('unreachable', problem);
    }
    trouble.failed(retryAfterMs);
  };

  const conclude = (
    group: readonly Entry[],
    attempts: readonly Attempt[],
    /** Since when the destination was in trouble as the request started; 0 if it was not. */
    since: number,
  ) => {
    const isShared = attempts[0] === attempts[1];
    // A batch that is refused by one answer says nothing about each record: smaller ones show which it was.
    const isWhole = isShared && attempts[0]!.outcome === 'rejected';
    /** Others have passed since these have begun to fail. */
    const isOwn = group.every(({ record }) => record.failedSince! < passedAt);
    let worst: Attempt | undefined;
    let hasPassed = isWhole;
    group.forEach((entry, i) => {
      const attempt = attempts[i]!;
      const { status, problem, retryAfterMs } = attempt;
      // Something in between finds it too large, and takes others.
      const isTooLarge = status === 413 && isOwn && !isShared;
      const outcome = isWhole ? 'retry' : isTooLarge ? 'rejected' : attempt.outcome;
      const { record } = entry;
      if (outcome === 'delivered' || outcome === 'rejected') {
        hasPassed = true;
        if (outcome === 'delivered') finish(outbox, entry);
        else drop(outbox, entry, outcome, problem);
      } else {
        putBack(outbox, entry);
        const hasRunOut = status === 401 && token.forget() && !since;
        if (outcome === 'blocked' && !hasRunOut) tellOnce('setup', problem, status);
        if (!isWhole) {
          const time = outbox.now();
          record.failedSince ??= time;
          record.due = time + waitInTrouble(time - record.failedSince, Math.random);
        }
        if (!worst || retryAfterMs > worst.retryAfterMs) worst = attempt;
      }
      outbox.emit('outcome', { record, outcome, status: status || undefined });
    });
    if (hasPassed) passed();
    if (worst && (worst.retryAfterMs || !(hasPassed || isOwn))) failed(worst);
  };

  /**
   * Sends a group in one request.
   * @param since time at which the trouble of the destination began; 0 if it has none
   * @param handoff whether the page is being left
   */
  const start = async (group: Entry[], since: number, handoff = false): Promise<void> => {
    const bytes = weigh(group);
    // While nothing answers, every other request goes without: some browsers refuse keepalive.
    const keepalive = bytes <= room && (handoff || silent % 2 === 0);
    const kept = keepalive ? bytes : 0;
    const controller = (attempt(() => new AbortController()) ?? {}) as AbortController;
    const began = outbox.now();
    // WebKit never tells how a request has ended that was under way as a download began.
    let doubtfulAt = Infinity;
    const onBegin = () => (doubtfulAt = began + outbox.settings().timeout - SLACK_MS);
    const onStay = () => {
      if (!outbox.settings().resends) return; // its answer may still come
      loseRequest(controller);
      onEnd();
    };
    const settled = handoff ? undefined : attempt(() => onNavigation(onStay, onBegin));
    running.set(controller, [group, settled]);
    room -= kept;
    for (const entry of group) {
      if (!handoff) entry.record.attempts++; // or each time that a tab is hidden would halve its batches
      sent(outbox, entry, keepalive);
    }
    const records = group.map(({ record }) => record);
    const sending = send(records, { keepalive, controller, isSilent: !!silent });
    for (const record of records) outbox.emit('sent', { record, handoff });
    const attempts = await sending;
    settled?.();
    room += kept;
    if (attempts?.[0]!.status === 0 && outbox.now() > doubtfulAt) loseRequest(controller);
    // Not if it was forgotten, since the page was left, or if the browser carries it on.
    if (attempts && running.delete(controller)) conclude(group, attempts, since);
    onEnd();
  };

  /** Forgets a request whose answer nobody sees any more. */
  const loseRequest = (controller: AbortController) => {
    const [group, settled] = running.get(controller) ?? [[]];
    running.delete(controller);
    settled?.();
    for (const entry of group) lose(outbox, entry);
  };

  /** Forgets what is under way, since the page was left. */
  const loseRunning = (): void => {
    for (const controller of running.keys()) loseRequest(controller);
  };

  /** Ends what is under way, since nothing may be sent any more. It may have arrived all the same. */
  const abort = (): void => {
    for (const controller of running.keys()) controller.abort?.();
    loseRunning();
  };

  return {
    start,
    loseRunning,
    abort,
    /** Requests that are under way. */
    count: (): number => running.size,
    width: (): number => width,
    room: (): number => room,
    /** Whether the browser says that there is no network, and was right the last time. */
    isCutOff: (): boolean => isOffline() && !isHintWrong,
    reason: (): Status['paused'] => reason,
    /** No token: nothing is asked of the service. */
    lacksToken: (problem: string): void => {
      tellOnce('token', problem);
      failed({ outcome: 'blocked', status: 401, retryAfterMs: 0, problem });
    },
    /** The network is back: what was told may be over. */
    online: (): void => {
      told.clear();
      silent = 0;
    },
  };
};
