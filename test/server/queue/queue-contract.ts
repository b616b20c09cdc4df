import { describe, expect, test } from 'vitest';
import type {
  DeadLetters,
  IdBounds,
  Placed,
  Put,
  Queue,
  QueueBounds,
  QueuedRecord,
  Taken,
} from '../../../src/server/queue/ports.js';
import { keyOf } from '../../../src/server/incoming.js';
import { back, idsOf, makeIdentify, makeQueued } from './make-queued.js';

type DurableQueue = Queue & { deadLetters: DeadLetters };

export interface QueueWorld {
  /** A handle of one more process on the same queue. */
  open: (options?: QueueBounds & IdBounds) => Promise<DurableQueue>;
  /** Lets time pass, for all handles. */
  pass: (ms: number) => Promise<void>;
}

/** No whole number, as a time may be. */
const VISIBLE_MS = 60_000.5;

/** In an order of their own, since what has not failed comes in that of its time. */
const byKey = (records: readonly QueuedRecord[]) =>
  [...records].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

/** What a queue that remembers answers to each record. */
const placedIn = async (put: Promise<Put | void>): Promise<readonly Placed[]> =>
  ((await put) as Put).placed;

/** Ids in the order of taking and finishing one at a time, until nothing is due. */
const drain = async (queue: Queue): Promise<string[]> => {
  const ids: string[] = [];
  for (;;) {
    const taken = await queue.take(3, VISIBLE_MS);
    if (taken.length === 0) return ids;
    ids.push(...idsOf(taken));
    await queue.done(taken);
  }
};

const one = (taken: readonly Taken[]): Taken => {
  expect(taken).toHaveLength(1);
  return taken[0]!;
};

/** What every queue does, whatever it is made of. */
export const describeQueue = (name: string, enter: () => Promise<QueueWorld>): void => {
  /** Names a scenario that begins with an empty queue, and runs it. */
  const it = (what: string, play: (queue: DurableQueue, world: QueueWorld) => Promise<void>) =>
    test(what, async () => {
      const world = await enter();
      await play(await world.open(), world);
    });

  describe(`the queue of ${name}`, () => {
    it('gives none where none is due', async (queue) => {
      expect(await queue.take(10, VISIBLE_MS)).toEqual([]);
      await queue.put([]);
      await queue.done([]);
      await queue.giveBack([]);
      expect(await queue.take(10, VISIBLE_MS)).toEqual([]);
    });

    it('has one secret, whoever asks first, and however often', async (queue, { open }) => {
      const others = [await open(), await open()];
      const secrets = await Promise.all([queue, ...others, queue].map((one) => one.secret!()));
      expect(secrets[0]).toMatch(/^[\w-]{21}$/);
      expect(new Set([...secrets, await (await open()).secret!()]).size).toBe(1);
    });

    it('keeps the order of the identifies of a user, one at a time, over many calls', async (queue) => {
      const records = Array.from({ length: 10 }, () => makeIdentify('a', 'me'));
      await queue.put(records.slice(0, 4));
      const taken = await queue.take(10, VISIBLE_MS, { only: 'fresh' });
      expect(idsOf(taken)).toEqual([records[0]!.id]);
      expect(await queue.take(10, VISIBLE_MS)).toEqual([]);
      await queue.put(records.slice(4));
      await queue.done(taken);
      expect(await drain(queue)).toEqual(records.slice(1).map(({ id }) => id));
    });

    it('gives events of a user when the identifies before them are done, and not one after the other', async (queue) => {
      const [first, second] = [makeIdentify('a'), makeIdentify('a')];
      const [before, between, after] = [makeQueued('a'), makeQueued('a'), makeQueued('a')];
      await queue.put([before, first, between, second, after]);
      const one = await queue.take(10, VISIBLE_MS);
      expect(idsOf(one).sort()).toEqual([before.id, first.id].sort());
      await queue.done(one);
      const two = await queue.take(10, VISIBLE_MS);
      expect(idsOf(two).sort()).toEqual([between.id, second.id].sort());
      await queue.done(two);
      expect(await drain(queue)).toEqual([after.id]);
    });

    it('holds up nobody behind an event that failed', async (queue) => {
      const [bad, ...others] = Array.from({ length: 4 }, () => makeQueued('a'));
      await queue.put([bad!]);
      await queue.giveBack(back(await queue.take(1, VISIBLE_MS), 5_000));
      await queue.put([...others, makeIdentify('a')]);
      expect(await queue.take(10, VISIBLE_MS)).toHaveLength(4);
    });

    it('lets the events behind an identify go when it has failed three times, and no other identify', async (queue, {
      pass,
    }) => {
      const [bad, next] = [makeIdentify('a', 'me'), makeIdentify('a', 'me')];
      const events = Array.from({ length: 3 }, () => ({ ...makeQueued('a'), sender: 'me' }));
      await queue.put([bad, events[0]!, next, events[1]!]);
      for (let tries = 0; tries < 3; tries++) {
        const taken = await queue.take(10, VISIBLE_MS);
        expect(idsOf(taken)).toEqual([bad.id]);
        await queue.giveBack(back(taken, 1_000));
        await pass(1_001);
      }
      await queue.put([events[2]!]);
      expect(idsOf(await queue.take(10, VISIBLE_MS)).sort()).toEqual(
        events.map(({ id }) => id).sort(),
      );
      await queue.done(await queue.take(10, VISIBLE_MS));
      expect(idsOf(await queue.take(10, VISIBLE_MS))).toEqual([next.id]);
    });

    it('counts a try that nobody came back from among the three', async (queue, { pass }) => {
      const [bad, behind] = [makeIdentify('a'), makeQueued('a')];
      await queue.put([bad, behind]);
      for (const comesBack of [true, true, false, true]) {
        const taken = await queue.take(10, VISIBLE_MS);
        expect(idsOf(taken)).toEqual([bad.id]);
        if (comesBack) await queue.giveBack(back(taken, 1_000));
        await pass(VISIBLE_MS + 1);
      }
      expect(idsOf(await queue.take(10, VISIBLE_MS))).toContain(behind.id);
    });

    it('lets nobody wait for the identifies that another client has sent of the same user', async (queue) => {
      const [forged, own] = [makeIdentify('a', 'stranger'), makeIdentify('a', 'me')];
      await queue.put([forged]);
      await queue.giveBack(back(await queue.take(1, VISIBLE_MS), 5_000));
      await queue.put([own]);
      expect(await drain(queue)).toEqual([own.id]);
    });

    it('keeps a record as it is that holds what a database may refuse, and those beside it', async (queue) => {
      const odd = 'a\u0000b\ud800c';
      const records = [makeIdentify(odd, 'me'), makeQueued(odd), makeIdentify('b', 'me')];
      await queue.put(records);
      const taken = await queue.take(10, VISIBLE_MS);
      expect(byKey(taken.map(({ record }) => record))).toEqual(byKey(records));
      await queue.done(taken);
      expect(await queue.size?.()).toEqual({ waiting: 0, dead: 0 });
    });

    it('tells users of two projects apart', async (queue) => {
      const [here, there] = [makeIdentify('a'), makeIdentify('a')];
      there.body = { ...there.body, project: 'q' };
      await queue.put([here, there]);
      expect(await queue.take(10, VISIBLE_MS)).toHaveLength(2);
    });

    it('gives back what has failed after its delay, behind what has not, and says for how long it has failed', async (queue, {
      pass,
    }) => {
      const [bad, other] = [makeQueued('a'), makeQueued()];
      await queue.put([bad]);
      expect(await queue.take(1, VISIBLE_MS)).toMatchObject([{ attempts: 1, failingMs: 0 }]);
      await pass(VISIBLE_MS + 1);
      const again = await queue.take(1, VISIBLE_MS);
      await queue.giveBack(back(again, 5_000.5));
      await queue.put([other]);
      expect(await drain(queue)).toEqual([other.id]);
      await pass(4_000);
      expect(await queue.take(10, VISIBLE_MS)).toEqual([]);
      await pass(1_500);
      expect(await queue.take(10, VISIBLE_MS, { only: 'fresh' })).toEqual([]);
      const taken = await queue.take(10, VISIBLE_MS);
      expect(taken).toMatchObject([{ record: bad, attempts: 3 }]);
    });

    it('gives back untried, now or later, as if it had not been taken', async (queue, { pass }) => {
      await queue.put([makeQueued('a')]);
      for (const delayMs of [0, 5_000, 0]) {
        const taken = await queue.take(1, VISIBLE_MS);
        expect(taken).toMatchObject([{ attempts: 1, failingMs: 0 }]);
        await queue.giveBack(back(taken, delayMs, false));
        if (delayMs) expect(await queue.take(1, VISIBLE_MS)).toEqual([]);
        await pass(delayMs);
      }
    });

    it('gives out at once what has failed and waits when it is told to, and nothing that is taken', async (queue) => {
      const [failed, taken] = [makeQueued('a'), makeQueued('b')];
      await queue.put([failed]);
      await queue.giveBack(back(await queue.take(10, VISIBLE_MS), VISIBLE_MS));
      await queue.put([taken]);
      expect(idsOf(await queue.take(10, VISIBLE_MS))).toEqual([taken.id]);
      expect(await queue.take(10, VISIBLE_MS)).toEqual([]);
      await queue.tryNow!();
      expect(await queue.take(10, VISIBLE_MS)).toMatchObject([{ record: failed, attempts: 2 }]);
    });

    it('gives records that have not failed before those that have', async (queue, { pass }) => {
      const bad = Array.from({ length: 20 }, (_, i) => makeQueued(`bad${i}`));
      await queue.put(bad);
      await queue.giveBack(back(await queue.take(20, VISIBLE_MS), 1_000));
      const good = Array.from({ length: 20 }, (_, i) => makeQueued(`good${i}`));
      await queue.put(good);
      await pass(1_001);
      const [failed] = await queue.take(1, VISIBLE_MS, { only: 'failed' });
      await queue.giveBack(back([failed!], 0));
      const first = await queue.take(20, VISIBLE_MS);
      expect(idsOf(first).sort()).toEqual(good.map(({ id }) => id).sort());
      expect(idsOf(await queue.take(20, VISIBLE_MS)).sort()).toEqual(
        bad.map(({ id }) => id).sort(),
      );
    });

    it('gives to another what a dead process has left, when its time is over', async (dying, {
      open,
      pass,
    }) => {
      const living = await open();
      const records = [makeIdentify('a'), makeQueued('b'), makeQueued()];
      await dying.put(records);
      expect(await dying.take(10, VISIBLE_MS)).toHaveLength(3);
      await pass(VISIBLE_MS / 2);
      expect(await living.take(10, VISIBLE_MS)).toEqual([]);
      await pass(VISIBLE_MS);
      const taken = await living.take(10, VISIBLE_MS);
      expect(idsOf(taken).sort()).toEqual(records.map(({ id }) => id).sort());
      expect(Math.min(...taken.map(({ attempts }) => attempts))).toBeGreaterThanOrEqual(2);
    });

    it('does not take from another what was given back too late, and removes what is done', async (slow, {
      open,
      pass,
    }) => {
      const quick = await open();
      await slow.put([makeQueued('a')]);
      const taken = await slow.take(1, VISIBLE_MS);
      await pass(VISIBLE_MS + 1);
      one(await quick.take(1, VISIBLE_MS));
      await slow.giveBack(back(taken, 0));
      for (const queue of [slow, quick]) expect(await queue.take(1, VISIBLE_MS)).toEqual([]);
      await slow.done(taken);
      await pass(VISIBLE_MS + 1);
      expect(await quick.take(1, VISIBLE_MS)).toEqual([]);
    });

    it('knows a record that waits already, is out or was delivered, also from another process', async (queue, {
      open,
    }) => {
      const other = await open();
      const record = makeQueued('a');
      const put = (...records: QueuedRecord[]) => placedIn(other.put(records));
      expect(await placedIn(queue.put([record, makeQueued('a'), record]))).toEqual([
        ...['queued', 'queued', 'known'],
      ]);
      const taken = await queue.take(10, VISIBLE_MS);
      expect(taken).toHaveLength(2);
      expect(await put(record)).toEqual(['known']);
      await queue.done(taken);
      expect(await put(makeQueued('a'), record)).toEqual(['queued', 'known']);
      expect(await queue.take(10, VISIBLE_MS)).toHaveLength(1);
    });

    it('knows a record for as long as it should, and an operator sends it again all the same', async (_, {
      open,
      pass,
    }) => {
      const queue = await open({ idAge: 3_600_000 });
      const record = makeQueued('a');
      await queue.put([record]);
      await queue.bury(one(await queue.take(1, VISIBLE_MS)), 'rejected 400');
      expect(await placedIn(queue.put([record]))).toEqual(['known']);
      const [letter] = await queue.deadLetters.list();
      expect(await queue.deadLetters.resend([letter!.id])).toBe(1);
      await queue.done(await queue.take(1, VISIBLE_MS));
      await pass(3_600_001);
      expect(await placedIn(queue.put([record]))).toEqual(['queued']);
    });

    it('knows only what waits if it should remember nothing', async (_, { open }) => {
      const queue = await open({ idAge: 0 });
      const record = makeQueued('a');
      expect(await placedIn(queue.put([record, record]))).toEqual(['queued', 'known']);
      await queue.done(await queue.take(1, VISIBLE_MS));
      expect(await placedIn(queue.put([record]))).toEqual(['queued']);
    });

    /** Puts records of a sender, one at a time. */
    const putOf = async (queue: Queue, sender: string, count: number) => {
      const records = Array.from({ length: count }, () => ({ ...makeQueued(), sender }));
      const gone = { maxIds: 0, maxIdsOfClient: 0 };
      for (const record of records) {
        const { dropped } = (await queue.put([record])) as Put;
        gone.maxIds += dropped?.maxIds ?? 0;
        gone.maxIdsOfClient += dropped?.maxIdsOfClient ?? 0;
      }
      await queue.done(await queue.take(count, VISIBLE_MS));
      return { records, gone };
    };
    const knownTo = async (queue: Queue, records: readonly QueuedRecord[]) => {
      const placed = await placedIn(queue.put(records));
      return records.filter((_, index) => placed[index] === 'known');
    };

    it('forgets the oldest ids of a sender that has too many', async (_, { open }) => {
      const queue = await open({ maxIdsOfClient: 3 });
      const mine = await putOf(queue, 'me', 2);
      const flood = await putOf(queue, 'flood', 5);
      expect(flood.gone).toEqual({ maxIds: 0, maxIdsOfClient: 2 });
      expect(await knownTo(queue, mine.records)).toEqual(mine.records);
      expect(await knownTo(queue, flood.records)).toEqual(flood.records.slice(2));
    });

    it('forgets the oldest ids of the sender with the most if all have too many', async (_, {
      open,
    }) => {
      const queue = await open({ maxIds: 5 });
      const mine = await putOf(queue, 'me', 2);
      const flood = await putOf(queue, 'flood', 6);
      expect(flood.gone).toEqual({ maxIds: 3, maxIdsOfClient: 0 });
      expect(await knownTo(queue, mine.records)).toEqual(mine.records);
      expect((await knownTo(queue, flood.records)).slice(-1)).toEqual(flood.records.slice(-1));
    });

    it('counts no id whose time is over', async (_, { open, pass }) => {
      const queue = await open({ maxIdsOfClient: 3 });
      await putOf(queue, 'me', 2);
      await pass(8 * 86_400_000);
      const later = await putOf(queue, 'me', 3);
      expect(later.gone).toEqual({ maxIds: 0, maxIdsOfClient: 0 });
      expect(await knownTo(queue, later.records)).toEqual(later.records);
    });

    it('knows an id that comes again after its time as one id, though many have run out', async (_, {
      open,
      pass,
    }) => {
      const queue = await open({ maxIdsOfClient: 300 });
      await putOf(queue, 'other', 250);
      const { records } = await putOf(queue, 'me', 1);
      await pass(8 * 86_400_000);
      const strict = await open({ maxIdsOfClient: 1 });
      expect(await placedIn(strict.put(records))).toEqual(['queued']);
      await strict.done(await strict.take(1, VISIBLE_MS));
      expect(await placedIn(strict.put(records))).toEqual(['known']);
    });

    it('keeps records apart that have one id in another type or project', async (queue) => {
      const record = makeQueued('a');
      const withBody = (body: QueuedRecord['body']) => ({ body, text: JSON.stringify(body) });
      const inOther = { ...record, ...withBody({ ...record.body, project: 'q' }) };
      const profile: QueuedRecord = {
        ...{ ...record, type: 'identify' },
        ...withBody({ project: 'p', user_id: 'a', properties: {} }),
      };
      await queue.put([record, inOther]);
      await queue.put([profile, record]);
      const taken = await queue.take(10, VISIBLE_MS);
      expect(byKey(taken.map((one) => one.record))).toEqual(byKey([record, inOther, profile]));
      await queue.done(taken.slice(0, 1));
      expect(await queue.size?.()).toMatchObject({ waiting: 2 });
      await queue.done(taken.slice(1));
      expect(await drain(queue)).toEqual([]);
    });

    it('buries a record with its reason, once, and lets the user go on', async (queue) => {
      const [bad, next] = [makeIdentify('a'), makeQueued('a')];
      await queue.put([bad, next]);
      const taken = one(await queue.take(1, VISIBLE_MS));
      await queue.bury(taken, 'rejected: 400');
      await queue.bury(taken, 'rejected: 400');
      expect(await queue.deadLetters.list()).toMatchObject([
        { record: bad, reason: 'rejected: 400' },
      ]);
      expect(await drain(queue)).toEqual([next.id]);
    });

    it('tells how full it is', async (queue) => {
      expect(await queue.size?.()).toEqual({ waiting: 0, dead: 0 });
      const records = [
        { ...makeQueued('a'), at: 5 },
        { ...makeQueued('b'), at: 6 },
        { ...makeQueued('c'), at: 7 },
      ];
      await queue.put(records);
      expect(await queue.size?.()).toEqual({ waiting: 3, dead: 0, oldest: 5 });
      for (let i = 0; i < 2; i++) {
        const taken = one(await queue.take(1, VISIBLE_MS));
        if (i === 0) await queue.bury(taken, 'x');
        else await queue.done([taken]);
      }
      expect(await queue.size?.()).toMatchObject({ waiting: 1, dead: 1 });
    });

    it('takes no more than may wait, and goes on when there is room', async () => {
      const { open } = await enter();
      const [queue, other] = [await open({ maxWaiting: 3 }), await open({ maxWaiting: 3 })];
      const records = Array.from({ length: 6 }, () => makeQueued('a'));
      await queue.put(records.slice(0, 2));
      // What comes together is taken as a whole, though one is too many.
      await other.put(records.slice(2, 4));
      for (const full of [queue, other]) {
        // Records that are known are answered all the same.
        const put = await placedIn(full.put([records[0]!, ...records.slice(4)]));
        expect(put).toEqual(['known', 'full', 'full']);
      }
      expect(await queue.size?.()).toMatchObject({ waiting: 4 });
      const [first, second] = await queue.take(2, VISIBLE_MS);
      expect(await placedIn(queue.put(records.slice(4)))).toEqual(['full', 'full']);
      await queue.done([first!]);
      await queue.bury(second!, 'rejected 400');
      await queue.put(records.slice(4));
      expect(await drain(queue)).toEqual(records.slice(2).map(({ id }) => id));
      expect(await queue.deadLetters.list()).toHaveLength(1);
      await other.put([makeQueued('a')]);
      expect(await queue.size?.()).toMatchObject({ waiting: 1 });
    });

    it('counts a large record once for each KiB of it', async () => {
      const queue = await (await enter()).open({ maxWaiting: 10 });
      const large = makeQueued('a', 'x'.repeat(9 * 1_024));
      await queue.put([large]);
      expect(await placedIn(queue.put([makeQueued('b')]))).toEqual(['full']);
      await queue.done(await queue.take(10, VISIBLE_MS));
      for (let i = 0; i < 10; i++) await queue.put([makeQueued('b')]);
      expect(await placedIn(queue.put([makeQueued('b')]))).toEqual(['full']);
    });

    it('takes no more of one client than may wait of it, and goes on with the others', async () => {
      const queue = await (await enter()).open({ maxWaitingOfClient: 2 });
      const of = (client: string, count: number) =>
        Array.from({ length: count }, () => ({ ...makeQueued(), sender: client }));
      await queue.put(of('flood', 2));
      expect(await placedIn(queue.put(of('flood', 1)))).toEqual(['full of sender']);
      await queue.put(of('me', 1));
      await queue.done((await queue.take(1, VISIBLE_MS)).slice(0, 1));
      await queue.put(of('flood', 1));
      expect(await queue.size?.()).toMatchObject({ waiting: 3 });
    });

    it('keeps no more dead letters than it may, in all and of a client, and says what went', async () => {
      const queue = await (await enter()).open({ maxDead: 3, maxDeadOfClient: 2 });
      const bury = async (client: string) => {
        const record = { ...makeQueued(), sender: client };
        await queue.put([record]);
        return {
          ...record,
          gone: await queue.bury(one(await queue.take(1, VISIBLE_MS)), 'rejected 400'),
        };
      };
      const mine = await bury('me');
      const floods = [await bury('flood'), await bury('flood'), await bury('flood')];
      expect(floods.map(({ gone }) => gone)).toEqual([
        { maxDead: 0, maxDeadOfClient: 0 },
        { maxDead: 0, maxDeadOfClient: 0 },
        { maxDead: 0, maxDeadOfClient: 1 },
      ]);
      expect(idsOf(await queue.deadLetters.list())).toEqual([
        mine.id,
        floods[1]!.id,
        floods[2]!.id,
      ]);
      const last = await bury('other');
      expect(last.gone).toEqual({ maxDead: 1, maxDeadOfClient: 0 });
      expect(idsOf(await queue.deadLetters.list())).toEqual([
        floods[1]!.id,
        floods[2]!.id,
        last.id,
      ]);
      expect(await queue.size?.()).toEqual({ waiting: 0, dead: 3 });
    });

    it('gives each record once to calls of one process at the same time', async (queue) => {
      const records = Array.from({ length: 4 }, () => makeQueued());
      await queue.put(records);
      const taken = await Promise.all([queue.take(2, VISIBLE_MS), queue.take(2, VISIBLE_MS)]);
      expect(idsOf(taken.flat()).sort()).toEqual(records.map(({ id }) => id));
    });

    it('gives each record once to processes that take at the same time, identifies in order', async () => {
      const { open } = await enter();
      const queues = await Promise.all([open(), open(), open()]);
      const records = Array.from({ length: 90 }, (_, i) =>
        i % 3 ? makeQueued(`u${i % 30}`) : makeIdentify(`u${i % 10}`),
      );
      await queues[0]!.put(records);
      const taken: string[] = [];
      const last = new Map<string, number>();
      const take = async (queue: Queue): Promise<number> => {
        const got = await queue.take(5, VISIBLE_MS);
        for (const { record } of got) {
          taken.push(record.id);
          if (record.type !== 'identify') continue;
          const user = (record.body as { user_id: string }).user_id;
          const index = records.findIndex(({ id }) => id === record.id);
          expect(index).toBeGreaterThan(last.get(user) ?? -1);
          last.set(user, index);
        }
        await queue.done(got);
        return got.length;
      };
      for (let round = 0; taken.length < records.length && round < 200; round++) {
        await Promise.all(queues.map(take));
      }
      expect(taken.sort()).toEqual(records.map(({ id }) => id).sort());
    });
  });
};

/** What a queue on a disk does, too: one client may put 50,000 records of one user. */
export const describeLongLine = (name: string, enter: () => Promise<QueueWorld>): void =>
  test(`the queue of ${name} is held up by no line of one user, however long`, async () => {
    const { open, pass } = await enter();
    const queue = await open();
    const of = (make: (user: string) => QueuedRecord) => ({ ...make('u'), sender: 'me' });
    const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
      const from = performance.now();
      await work();
      return performance.now() - from;
    };
    const fastestTake = async (): Promise<number> => {
      const takeNone = async () => expect(await queue.take(64, VISIBLE_MS)).toEqual([]);
      const times: number[] = [];
      for (let n = 0; n < 30; n++) times.push(await timeOf(takeNone));
      return Math.min(...times);
    };
    const ofEmpty = await fastestTake();
    const line = Array.from({ length: 16_000 }, (_, n) => of(n % 2 ? makeQueued : makeIdentify));
    const longMs = (await timeOf(() => queue.put(line))) / 2;
    for (let tries = 0; tries < 3; tries++) {
      const taken = await queue.take(1, VISIBLE_MS);
      expect(idsOf(taken)).toEqual([line[0]!.id]);
      // Scanned anew, the line takes many times as long.
      expect(await fastestTake()).toBeLessThan(10 * ofEmpty);
      expect(await timeOf(() => queue.giveBack(back(taken, 1_000)))).toBeLessThan(longMs);
      await pass(1_001);
    }
    const more = Array.from({ length: 200 }, () => of(makeQueued));
    expect(await timeOf(() => queue.put(more))).toBeLessThan(longMs);
  });
