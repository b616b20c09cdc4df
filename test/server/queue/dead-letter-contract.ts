import { describe, expect, it } from 'vitest';
import { idsOf, makeQueued } from './make-queued.js';
import type { QueueWorld } from './queue-contract.js';

/** What the dead letters of every queue do. */
export const describeDeadLetters = (name: string, enter: () => Promise<QueueWorld>): void => {
  /** A queue whose first three records are dead letters, and what they are. */
  const withDead = async (maxWaiting?: number) => {
    const { open } = await enter();
    const queue = await open(maxWaiting ? { maxWaiting } : {});
    const records = [makeQueued('a'), makeQueued('b'), makeQueued('a')];
    await queue.put(records);
    for (const taken of await queue.take(3, 60_000)) await queue.bury(taken, 'rejected 400');
    return { queue, letters: await queue.deadLetters.list() };
  };

  describe(`the dead letters of ${name}`, () => {
    it('are listed in pages, the oldest first', async () => {
      const { queue, letters } = await withDead();
      expect(letters).toHaveLength(3);
      for (const { reason, diedAt, record } of letters) {
        expect(reason).toBe('rejected 400');
        expect(Math.abs(diedAt - Date.now())).toBeLessThan(60_000);
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
      expect(idsOf(taken)).toEqual([waiting.id, ...idsOf([first!, third!])]);
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

    it('are purged, and found among ids that are none', async () => {
      const { queue, letters } = await withDead();
      const [first, second, third] = letters;
      expect(await queue.deadLetters.resend(['x', first!.id, '1 2'])).toBe(1);
      expect(await queue.deadLetters.purge(['x', second!.id, '1 2'])).toBe(1);
      expect(await queue.deadLetters.purge([second!.id])).toBe(0);
      expect(await queue.deadLetters.purge([])).toBe(0);
      expect(await queue.deadLetters.list()).toEqual([third]);
    });
  });
};
