import { describe, expect, test } from 'vitest';
import type { IdBounds, Seen } from '../../../src/server/queue/ports.js';
import type { BatchResult } from '../../../src/interface/wire.js';

export interface SeenWorld {
  /** A handle of one more process on the same store. */
  open: (bounds?: IdBounds) => Promise<Seen>;
  pass: (ms: number) => Promise<void>;
}

/** When every call fails: before the store has done what it was asked, or after. */
export type Failure = 'before' | 'after';

export interface FailingSeenWorld extends SeenWorld {
  /** Calls of all processes fail so from now on; undefined: none do. */
  fail: (when?: Failure) => void;
}

/** No whole number, as a time may be. */
const CLAIM_MS = 60_000.5;
let made = 0;
const newId = () => `id-${++made}`;
const delivered = (id: string): BatchResult => ({ id, outcome: 'delivered', status: 200 });

/** What every `Seen` does. */
export const describeSeen = (name: string, enter: () => Promise<SeenWorld>): void => {
  /** Names a scenario that begins with an empty store, and runs it. */
  const it = (what: string, play: (seen: Seen, world: SeenWorld) => Promise<void>) =>
    test(what, async () => {
      const world = await enter();
      await play(await world.open(), world);
    });

  describe(`the seen ids of ${name}`, () => {
    it('claims an id once', async (seen) => {
      const [a, b] = [newId(), newId()];
      expect(await seen.begin([a, b], CLAIM_MS)).toEqual([{ state: 'new' }, { state: 'new' }]);
      expect(await seen.begin([b, newId()], CLAIM_MS)).toEqual([
        { state: 'begun' },
        { state: 'new' },
      ]);
      expect(await seen.begin([], CLAIM_MS)).toEqual([]);
    });

    it('gives one of two callers the claim, also of two processes', async (one, { open }) => {
      const two = await open();
      const ids = Array.from({ length: 20 }, newId);
      const states = await Promise.all([one.begin(ids, CLAIM_MS), two.begin(ids, CLAIM_MS)]);
      ids.forEach((_, i) =>
        expect(states.map((sightings) => sightings[i]!.state).sort()).toEqual(['begun', 'new']),
      );
    });

    it('gives the first answer to a repeat', async (one, { open }) => {
      const two = await open();
      const [good, bad] = [newId(), newId()];
      await one.begin([good, bad], CLAIM_MS);
      const results: BatchResult[] = [
        delivered(good),
        { id: bad, outcome: 'rejected', status: 400 },
      ];
      await one.finish(results);
      expect(await two.begin([good, bad], CLAIM_MS)).toEqual(
        results.map((result) => ({ state: 'done', result })),
      );
    });

    it('keeps what a record came to when it is called accepted afterwards, and not the other way', async (relay, {
      open,
    }) => {
      const consumer = await open();
      const [slow, quick] = [newId(), newId()];
      const accepted = (id: string): BatchResult => ({ id, outcome: 'accepted', status: 0 });
      await relay.begin([slow, quick], CLAIM_MS);
      await consumer.finish([delivered(quick)]);
      await relay.finish([accepted(slow), accepted(quick)]);
      expect(await relay.begin([slow, quick], CLAIM_MS)).toEqual([
        { state: 'done', result: accepted(slow) },
        { state: 'done', result: delivered(quick) },
      ]);
      await consumer.finish([delivered(slow)]);
      expect(await relay.begin([slow], CLAIM_MS)).toEqual([
        { state: 'done', result: delivered(slow) },
      ]);
    });

    it('ends a claim by itself', async (dying, { open, pass }) => {
      const living = await open();
      const id = newId();
      await dying.begin([id], CLAIM_MS);
      await pass(CLAIM_MS / 2);
      expect(await living.begin([id], CLAIM_MS)).toEqual([{ state: 'begun' }]);
      await pass(CLAIM_MS);
      expect(await living.begin([id], CLAIM_MS)).toEqual([{ state: 'new' }]);
    });

    it('gives a claim up', async (seen) => {
      const [a, b] = [newId(), newId()];
      await seen.begin([a, b], CLAIM_MS);
      await seen.forget([a]);
      expect(await seen.begin([a, b], CLAIM_MS)).toEqual([{ state: 'new' }, { state: 'begun' }]);
    });

    it('keeps a result that came to an id after its claim was over', async (seen, { pass }) => {
      const id = newId();
      await seen.begin([id], CLAIM_MS);
      await pass(CLAIM_MS * 2);
      await seen.finish([delivered(id)]);
      expect(await seen.begin([id], CLAIM_MS)).toEqual([{ state: 'done', result: delivered(id) }]);
    });

    it('forgets a refused record after an hour, and no other', async (seen, { pass }) => {
      const [good, bad] = [newId(), newId()];
      await seen.begin([good, bad], CLAIM_MS);
      await seen.finish([delivered(good), { id: bad, outcome: 'rejected', status: 400 }]);
      await pass(3_600_000 - 60_000);
      expect(await seen.begin([bad], CLAIM_MS)).toMatchObject([{ state: 'done' }]);
      await pass(120_000);
      expect(await seen.begin([good, bad], CLAIM_MS)).toMatchObject([
        { state: 'done' },
        { state: 'new' },
      ]);
    });
  });
};

/** What a `Seen` does that keeps a bounded number of ids. */
export const describeSeenBounds = (name: string, enter: () => Promise<SeenWorld>): void => {
  const remember = async (seen: Seen, client: string, count: number) => {
    const ids = Array.from({ length: count }, newId);
    const gone = { maxIds: 0, maxIdsOfClient: 0 };
    for (const id of ids) {
      await seen.begin([id], CLAIM_MS, client);
      const dropped = await seen.finish([delivered(id)], client);
      gone.maxIds += dropped?.maxIds ?? 0;
      gone.maxIdsOfClient += dropped?.maxIdsOfClient ?? 0;
    }
    return { ids, gone };
  };
  const known = async (seen: Seen, ids: readonly string[]) => {
    const sightings = await seen.begin(ids, CLAIM_MS);
    await seen.forget(ids.filter((_, index) => sightings[index]!.state === 'new'));
    return ids.filter((_, index) => sightings[index]!.state === 'done');
  };

  describe(`the number of ids of ${name}`, () => {
    test('is bounded by client: its oldest go', async () => {
      const seen = await (await enter()).open({ maxIdsOfClient: 3 });
      const mine = await remember(seen, 'me', 2);
      const flood = await remember(seen, 'flood', 5);
      expect(flood.gone).toEqual({ maxIds: 0, maxIdsOfClient: 2 });
      expect(await known(seen, [...mine.ids, ...flood.ids])).toEqual([
        ...mine.ids,
        ...flood.ids.slice(2),
      ]);
    });

    test('is bounded in all: the oldest of the client with the most go', async () => {
      const seen = await (await enter()).open({ maxIds: 5 });
      const mine = await remember(seen, 'me', 2);
      const flood = await remember(seen, 'flood', 6);
      expect(flood.gone).toEqual({ maxIds: 3, maxIdsOfClient: 0 });
      expect(await known(seen, [...mine.ids, ...flood.ids])).toEqual([
        ...mine.ids,
        ...flood.ids.slice(3),
      ]);
    });

    test('counts an id once, and none whose time is over', async () => {
      const { open, pass } = await enter();
      const seen = await open({ maxIdsOfClient: 3 });
      const { ids } = await remember(seen, 'me', 2);
      for (let times = 0; times < 5; times++) await seen.finish(ids.map(delivered), 'me');
      expect(await known(seen, ids)).toEqual(ids);
      await pass(8 * 86_400_000);
      const later = await remember(seen, 'me', 3);
      expect(later.gone).toEqual({ maxIds: 0, maxIdsOfClient: 0 });
      expect(await known(seen, later.ids)).toEqual(later.ids);
    });
  });
};

/** What a `Seen` does whose calls can fail, in each of these ways. */
export const describeSeenFailures = (
  name: string,
  enter: () => Promise<FailingSeenWorld>,
  failures: readonly Failure[],
): void => {
  const NEW = [{ state: 'new' }];
  const BEGUN = [{ state: 'begun' }];

  /** Names a scenario with two processes, and runs it. */
  const it = (
    what: string,
    play: (
      one: Seen,
      two: Seen,
      failing: (call: () => Promise<unknown>) => Promise<void>,
    ) => Promise<void>,
  ) =>
    test.each(failures)(`${what}: %s`, async (failure) => {
      const { open, fail } = await enter();
      const [one, two] = [await open(), await open()];
      // As a process that runs already: a store may ask for something only once.
      for (const seen of [one, two]) await seen.begin([newId()], CLAIM_MS);
      await play(one, two, async (call) => {
        fail(failure);
        await expect(call()).rejects.toThrow();
        fail();
      });
    });

  describe(`the seen ids of ${name}, when a call fails`, () => {
    it('claim an id for its next call when the one before failed', async (one, two, failing) => {
      const id = newId();
      for (let times = 0; times < 2; times++) await failing(() => one.begin([id], CLAIM_MS));
      expect(await one.begin([id], CLAIM_MS)).toEqual(NEW);
      expect(await two.begin([id], CLAIM_MS)).toEqual(BEGUN);
    });

    it('leave no claim behind for other processes', async (one, two, failing) => {
      const id = newId();
      await failing(() => one.begin([id], CLAIM_MS));
      await failing(() => one.begin([newId()], CLAIM_MS));
      await one.begin([newId()], CLAIM_MS);
      expect(await two.begin([id], CLAIM_MS)).toEqual(NEW);
    });

    it('forget a claim with the next call', async (one, two, failing) => {
      const [a, b] = [newId(), newId()];
      await one.begin([a, b], CLAIM_MS);
      await failing(() => one.forget([a]));
      await failing(() => one.forget([b]));
      await one.forget([newId()]);
      for (const id of [a, b]) expect(await two.begin([id], CLAIM_MS)).toEqual(NEW);
    });

    it('keep a claim that was made after one was to be forgotten', async (one, two, failing) => {
      const id = newId();
      await one.begin([id], CLAIM_MS);
      await failing(() => one.forget([id]));
      expect(await one.begin([id], CLAIM_MS)).toEqual(NEW);
      await one.begin([newId()], CLAIM_MS);
      expect(await two.begin([id], CLAIM_MS)).toEqual(BEGUN);
    });

    it('keep the claim of the same process that is under way', async (one, two, failing) => {
      const id = newId();
      await one.begin([id], CLAIM_MS);
      await failing(() => one.begin([id], CLAIM_MS));
      await one.begin([newId()], CLAIM_MS);
      expect(await two.begin([id], CLAIM_MS)).toEqual(BEGUN);
    });

    it('keep the claim of another process', async (one, two, failing) => {
      const id = newId();
      await two.begin([id], CLAIM_MS);
      await failing(() => one.begin([id], CLAIM_MS));
      await failing(() => one.forget([id]));
      expect(await one.begin([id], CLAIM_MS)).toEqual(BEGUN);
    });

    it('keep a result that came in the meantime', async (one, two, failing) => {
      const id = newId();
      await failing(() => one.begin([id], CLAIM_MS));
      await failing(() => one.forget([id]));
      await two.finish([delivered(id)]);
      expect(await one.begin([id], CLAIM_MS)).toEqual([{ state: 'done', result: delivered(id) }]);
    });

    it('give up the claims of a long outage little by little', async (one, two, failing) => {
      const all = Array.from({ length: 50 }, () => Array.from({ length: 50 }, newId));
      for (const ids of all) await failing(() => one.begin(ids, CLAIM_MS));
      for (let times = 0; times < 3; times++) await one.begin([newId()], CLAIM_MS);
      const sightings = await two.begin(all.flat(), CLAIM_MS);
      expect(sightings.filter(({ state }) => state !== 'new')).toEqual([]);
    });
  });
};
