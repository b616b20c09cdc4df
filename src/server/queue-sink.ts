import { messageOf } from '../util/errors.js';
import { inTime } from '../util/in-time.js';
import type { BatchResult } from '../interface/wire.js';
import { createReportOnce, createTellDropped, type Tell } from './hooks.js';
import type { Incoming } from './incoming.js';
import type { Consumer } from './deliver/consumer.js';
import type { Putter } from './queue/ports.js';
import type { Sink } from './sink.js';

/** How long senders wait while the queue fails. */
const AWAY = { waitMs: 2_000 };
/** A full queue needs longer than one that was away for a moment. */
const FULL_S = 30;
/** How long the queue may take to give its secret. */
const SECRET_MS = 15_000;
/** A failure that is older than this says nothing about the queue now. */
const STALE_MS = 10_000;

interface Parts {
  queue: Putter;
  /** The consumer of the queue, if it is in this process. */
  consumer: Pick<Consumer, 'health'> | undefined;
  tell: Tell;
  now: () => number;
}

/** Puts records into a queue, which recognises repeats. They are accepted as soon as they are durable there. */
export const createQueueSink = ({ queue, consumer, tell, now }: Parts): Sink => {
  const trouble = createReportOnce(tell, now);
  const tellDropped = createTellDropped(tell, now);
  /** The last failure, if no records have been taken since. */
  let failure: { message: string; at: number } | undefined;

  const failed = (message: string): void => {
    trouble.tell({ kind: 'queue', message });
    failure = { message, at: now() };
  };
  const worked = (): void => {
    trouble.healed();
    failure = undefined;
  };

  const { secret } = queue;

  return {
    done: 'accepted',
    ...(secret && {
      secret: async () => {
        try {
          return await inTime(secret.call(queue), SECRET_MS);
        } catch (error) {
          failed(messageOf(error));
          throw error;
        }
      },
    }),
    take: async (records, { until }) => {
      const at = now();
      try {
        const queued = records.map((record) => ({ ...record, at }));
        const put = await inTime(queue.put(queued), until - at);
        const placed = put?.placed ?? records.map(() => 'queued');
        tellDropped(put?.dropped);
        tell.metric('queue_put_ms', now() - at);
        const known = placed.filter((place) => place === 'known').length;
        if (known) tell.metric('repeats', known);
        if (placed.includes('full')) failed('the queue is full: `maxWaiting` is reached');
        else worked();
        return records.map(({ id }: Incoming, index): BatchResult => {
          const isTaken = placed[index] === 'queued' || placed[index] === 'known';
          return isTaken
            ? { id, outcome: 'accepted', status: 0 }
            : { id, outcome: 'retry', status: 503, retry_after: FULL_S, untried: true };
        });
      } catch (error) {
        failed(messageOf(error));
        return AWAY;
      }
    },
    waitMs: () => 0,
    problem: () => {
      // The clock may have been set back.
      if (failure && Math.abs(now() - failure.at) < STALE_MS) return failure.message;
      return consumer?.health().isReading === false ? 'the queue cannot be read' : undefined;
    },
  };
};
