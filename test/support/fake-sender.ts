import { outcomeOf } from '../../src/interface/outcome.js';
import { tellToken } from '../../src/client/delivery/direct-sender.js';
import type { Attempt, Sender } from '../../src/client/delivery/sender.js';
import { createTokenSource } from '../../src/interface/token.js';
import type { OutboxRecord, Token } from '../../src/client/types.js';

type Reply = number | { status: number; retryAfterMs: number } | 'hang';

/** A sender that answers by a rule; what hangs is answered by hand. */
export const createFakeSender = (option: () => Token) => {
  const token = createTokenSource(option);
  const open = new Map<string, (reply: Exclude<Reply, 'hang'>) => void>();
  const fake = {
    /** Every request, in order. */
    sent: [] as { id: string; token: string; at: number; keepalive: boolean }[],
    rule: (() => 200) as (record: OutboxRecord, token: string) => Reply,
    /** Bodies that still fit the keepalive budget. */
    room: Infinity,
    /** The page has been left: its requests fail in its own eyes. */
    isLeft: false,
    aborted: false,
    isBack: false,
    mostAtOnce: 0,
    ids: (): string[] => fake.sent.map(({ id }) => id),
    open: (): string[] => [...open.keys()],
    answer: (id: string, reply: Exclude<Reply, 'hang'>): void => {
      const settle = open.get(id);
      if (!settle) throw new Error(`no request of ${id} is open`);
      open.delete(id);
      settle(reply);
    },
  };
  const send: Sender['send'] = ([first], { keepalive }) =>
    new Promise<Attempt | undefined>((resolve) => {
      const record = first!;
      const used = token.get() ?? '';
      fake.sent.push({ id: record.id, token: used, at: Date.now(), keepalive });
      open.set(record.id, (reply) => {
        const { status, retryAfterMs } =
          typeof reply === 'number' ? { status: reply, retryAfterMs: 0 } : reply;
        if (status === 0 && fake.isLeft) return resolve(undefined);
        const outcome = outcomeOf(status, '');
        resolve({
          ...{ outcome, status, retryAfterMs, problem: `status ${status}` },
          isStale: tellToken(token, used, { outcome, status }),
        });
      });
      fake.mostAtOnce = Math.max(fake.mostAtOnce, open.size);
      const reply = fake.rule(record, used);
      if (reply !== 'hang') queueMicrotask(() => fake.answer(record.id, reply));
    });
  const sender: Sender = {
    capacity: { records: 1, bytes: Infinity, bytesPerRecord: 0 },
    token,
    room: () => fake.room,
    send,
    abort: () => {
      fake.aborted = true;
    },
    comeBack: () => {
      fake.isBack = true;
    },
  };
  return { fake, sender };
};
