import { attempt } from '../../interface/attempt.js';
import { onNavigation } from '../life.js';
import { lose, type Outbox } from '../outbox/outbox.js';
import type { Entry } from '../outbox/parcel.js';
import { save } from '../outbox/writer.js';
import { KEEPALIVE_BUDGET } from './send/post.js';
import type { Attempt, Send } from './send/sender.js';

/** Bytes of a batch that stand around a body, with the record's id. */
const AROUND = 133;
/** A request that ends without an answer this long before its timeout, or later, has timed out: clocks are not exact. */
const SLACK_MS = 1_000;

export const weigh = (group: readonly Entry[]): number =>
  group.reduce((sum, { bytes }) => sum + bytes + AROUND, 0);

/**
 * The requests to one destination that are under way.
 * @param onLost called when the page stays after all, and what was under way waits again
 */
export const createRequests = (outbox: Outbox, send: Send, onLost: () => void) => {
  /** Requests by what ends them, each with its records and what ends its listening to navigations. */
  const running = new Map<AbortController, [group: Entry[], settled?: (() => void) | undefined]>();
  /** Bytes that the browser still takes under keepalive. */
  let room = KEEPALIVE_BUDGET;

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

  /**
   * Sends a group in one request, which it starts before it returns. Resolves with an attempt for each record, or with
   * nothing if nobody sees the answer.
   * @param silent failures in a row without an answer
   * @param handoff whether the page is being left
   */
  const start = async (
    group: Entry[],
    silent: number,
    handoff = false,
  ): Promise<Attempt[] | undefined> => {
    const { timeout, resends } = outbox.settings();
    const bytes = weigh(group);
    // While nothing answers, every other request goes without: some browsers refuse keepalive.
    const keepalive = bytes <= room && (handoff || silent % 2 === 0);
    const kept = keepalive ? bytes : 0;
    const controller = (attempt(() => new AbortController()) ?? {}) as AbortController;
    const began = outbox.now();
    // WebKit never tells how a request has ended that was under way as a download began.
    let doubtfulAt = Infinity;
    const onBegin = () => (doubtfulAt = began + timeout - SLACK_MS);
    const onStay = () => {
      if (!resends) return; // its answer may still come
      loseRequest(controller);
      onLost();
    };
    const settled = handoff ? undefined : attempt(() => onNavigation(onStay, onBegin));
    running.set(controller, [group, settled]);
    room -= kept;
    for (const entry of group) {
      if (!handoff) entry.record.attempts++; // or each time that a tab is hidden would halve its batches
      entry.isSent = true;
      // Named where the browser finishes the request even if the page goes, and only there.
      if (resends || keepalive === entry.isNamed) continue;
      entry.isNamed = keepalive;
      save(outbox, entry.parcel);
    }
    const records = group.map(({ record }) => record);
    const sending = send(records, { keepalive, controller, isSilent: !!silent });
    for (const record of records) outbox.emit('sent', { record, handoff });
    const attempts = await sending;
    settled?.();
    room += kept;
    if (attempts?.[0]!.status === 0 && outbox.now() > doubtfulAt) loseRequest(controller);
    // Not if it was forgotten, since the page was left, or if the browser carries it on.
    return attempts && running.delete(controller) ? attempts : undefined;
  };

  return {
    start,
    loseRunning,
    /** Ends what is under way, since nothing may be sent any more. It may have arrived all the same. */
    abort: (): void => {
      for (const controller of running.keys()) controller.abort?.();
      loseRunning();
    },
    count: (): number => running.size,
    room: (): number => room,
  };
};
