import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createConsumer, createDelivery } from '../../../src/relay.js';
import type { DeadLetters, Queue, QueuedRecord, Seen } from '../../../src/relay/queue/ports.js';
import { createFakeService } from '../helpers/fake-service.js';
import { idsOf, makeQueued } from './make-queued.js';

export interface DeadLetterWorld {
  open: (options?: { maxWaiting?: number }) => Promise<Queue & { deadLetters: DeadLetters }>;
  openSeen: () => Promise<Seen>;
  /** The clock of the queue. */
  now: () => number;
}

/** What the dead letters of every queue do. */
export const describeDeadLetters = (name: string, enter: () => DeadLetterWorld): void => {
  const recordsOf = (letters: readonly { record: QueuedRecord }[]) => idsOf(letters);

  /** A queue whose first three records are dead letters, and what they are. */
  const withDead = async (maxWaiting?: number) => {
    const world = enter();
    const queue = await world.open(maxWaiting ? { maxWaiting } : {});
    const records = [makeQueued('a'), makeQueued('b'), makeQueued('a')];
    await queue.put(records);
    for (const taken of await queue.take(3, 60_000)) await queue.bury(taken, 'rejected 400');
    return { ...world, queue, letters: await queue.deadLetters.list() };
  };

  describe(`the dead letters of ${name}`, () => {
    it('are listed in pages, the oldest first', async () => {
      const { queue, letters, now } = await withDead();
      expect(letters).toHaveLength(3);
      for (const { reason, diedAt, record } of letters) {
        expect(reason).toBe('rejected 400');
        expect(Math.abs(diedAt - now())).toBeLessThan(60_000);
        expect(record).toMatchObject({ type: 'event', body: expect.any(Object) as object });
      }
      const { list } = queue.deadLetters;
      const [first, second, third] = letters;
      expect(await list({ limit: 2 })).toEqual([first, second]);
      expect(await list({ after: second!.id })).toEqual([third]);
      expect(await list({ after: third!.id })).toEqual([]);
    });

    it('are sent again, each once, as new ones behind what waits', async () => {
      const { queue, letters } = await withDead();
      const waiting = makeQueued('a');
      await queue.put([waiting]);
      const [first, second, third] = letters;
      expect(await queue.deadLetters.resend([first!.id, third!.id])).toBe(2);
      expect(await queue.deadLetters.resend([first!.id, third!.id])).toBe(0);
      expect(await queue.deadLetters.resend([])).toBe(0);
      expect(await queue.deadLetters.list()).toEqual([second]);
      expect(await queue.size?.()).toMatchObject({ waiting: 3, dead: 1 });
      const taken = await queue.take(10, 60_000);
      expect(idsOf(taken)).toEqual([waiting.id, ...recordsOf([first!, third!])]);
      expect(taken[1]!.record.at).toBeGreaterThan(first!.record.at);
    });

    it('stay where they are while the queue is full', async () => {
      const { queue, letters } = await withDead(3);
      await queue.put([makeQueued(), makeQueued(), makeQueued()]);
      const resent = queue.deadLetters.resend(letters.map(({ id }) => id));
      await expect(resent).rejects.toMatchObject({ name: 'QueueFullError' });
      expect(await queue.deadLetters.list()).toEqual(letters);
      expect(await queue.size?.()).toMatchObject({ waiting: 3, dead: 3 });
    });

    it('are found among ids that are none', async () => {
      const { queue, letters } = await withDead();
      const [first, second, third] = letters;
      expect(await queue.deadLetters.resend(['x', first!.id, '1 2'])).toBe(1);
      expect(await queue.deadLetters.purge(['x', second!.id, '1 2'])).toBe(1);
      expect(await queue.deadLetters.list()).toEqual([third]);
    });

    it('are purged', async () => {
      const { queue, letters } = await withDead();
      const [first, second, third] = letters;
      expect(await queue.deadLetters.purge([first!.id, second!.id])).toBe(2);
      expect(await queue.deadLetters.purge([first!.id])).toBe(0);
      expect(await queue.deadLetters.purge([])).toBe(0);
      expect(await queue.deadLetters.list()).toEqual([third]);
    });

    it('are delivered when the service, which refused them, takes them', async () => {
      const world = enter();
      const [queue, seen] = [await world.open(), await world.openSeen()];
      const service = createFakeService();
      let refuses = true;
      service.when((request) => {
        if (refuses) request.answer(400, { code: 400, message: 'Invalid request data' });
        return refuses;
      });
      const { fetch } = service;
      const delivery = createDelivery({ baseUrl: 'http://service.test', token: 't', seen, fetch });
      const consumer = createConsumer({ queue, delivery, pollInterval: 5 });
      onTestFinished(() => consumer.stop());
      const record = { ...makeQueued('a'), at: Date.now() };
      await queue.put([record]);
      consumer.start();
      const dead = await vi.waitUntil(async () => (await queue.deadLetters.list())[0]);
      expect(dead.reason).toBe('rejected 400');
      refuses = false;
      await queue.deadLetters.resend([dead.id]);
      await vi.waitUntil(async () => (await queue.size?.())?.waiting === 0);
      expect(await queue.size?.()).toEqual({ waiting: 0, dead: 0 });
      expect(service.got.map(({ headers }) => headers['idempotency-key'])).toEqual([
        record.id,
        record.id,
      ]);
    });
  });
};
