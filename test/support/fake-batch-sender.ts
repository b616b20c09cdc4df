import { KEEPALIVE_BUDGET } from '../../src/client/delivery/carrier.js';
import type { Attempt, Sender } from '../../src/client/delivery/sender.js';
import type { OutboxRecord } from '../../src/client/types.js';

type Part = Pick<Attempt, 'outcome' | 'status'> & Partial<Attempt>;
/** One for all, one a record, none yet, or none since the page was left. */
type Reply = Part | Part[] | 'hang' | 'left';

const whole = (part: Part): Attempt => ({ retryAfterMs: 0, problem: '', ...part });

export const DELIVERED: Part = { outcome: 'delivered', status: 200 };
export const BUSY: Part = { outcome: 'retry', status: 503 };

/** A sender of batches that answers by a rule; what hangs is answered by hand. */
export const createFakeBatchSender = (records = 50) => {
  const open: ((reply: Part | Part[]) => void)[] = [];
  const fake = {
    /** Every request's ids, in order. */
    sent: [] as string[][],
    rule: ((batch: readonly OutboxRecord[]) => batch.map(() => DELIVERED)) as (
      batch: readonly OutboxRecord[],
    ) => Reply,
    sizes: [] as number[],
    room: KEEPALIVE_BUDGET,
    ids: (): string[] => fake.sent.flat(),
    /** How many hang. */
    open: (): number => open.length,
    /** Answers the one that has hung the longest. */
    answer: (reply: Part | Part[]): void => open.shift()!(reply),
  };
  const sender: Sender = {
    capacity: { records, bytes: 10_000, bytesPerRecord: 10 },
    room: () => fake.room,
    send: (batch, { size }) =>
      new Promise((resolve) => {
        fake.sent.push(batch.map(({ id }) => id));
        fake.sizes.push(size);
        const settle = (reply: Part | Part[]) =>
          resolve(Array.isArray(reply) ? reply.map(whole) : whole(reply));
        const reply = fake.rule(batch);
        if (reply === 'hang') open.push(settle);
        else if (reply === 'left') resolve(undefined);
        else queueMicrotask(() => settle(reply));
      }),
    abort: () => undefined,
    comeBack: () => undefined,
  };
  return { fake, sender };
};
