import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AGAIN, createTurns } from '../../../src/server/deliver/turns.js';
import { fakeTime, pass, settle } from '../../support/clock.js';

beforeEach(() => {
  fakeTime();
  vi.spyOn(Math, 'random').mockReturnValue(1);
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
});

/** Records that have their place until somebody ends them. */
const setUp = (places: number) => {
  const turns = createTurns({ places: () => places, ticks: Date.now });
  const started: string[] = [];
  const refused: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (turn: string, name: string, mayRefuse = false): void => {
    const work = () => {
      started.push(name);
      return new Promise<true>((resolve) => ends.set(name, () => resolve(true)));
    };
    void turns.run(turn, work, { mayRefuse }).then((result) => result ?? refused.push(name));
  };
  /** Adds records, and answers how many of them have started. */
  const fill = async (turn: string, count: number, mayRefuse = false): Promise<number> => {
    const before = started.length;
    for (let n = 0; n < count; n++) add(turn, `${turn}${started.length}-${n}`, mayRefuse);
    await settle();
    return started.length - before;
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    await settle();
  };
  /** Has that many places taken, each by another sender. */
  const occupy = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) add(`other ${n}`, `other ${n}`);
    await settle();
  };
  return { turns, started, refused, add, fill, end, occupy };
};

describe('turns', () => {
  it('go round among the senders that wait, and keep the order of each', async () => {
    const { started, add, end } = setUp(2);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) add('a', name);
    for (const name of ['b1', 'b2']) add('b', name);
    add('c', 'c1');
    await settle();
    expect(started).toEqual(['a1', 'b1']);
    for (let next = 0; next < started.length; next++) await end(started[next]!);
    expect(started).toEqual(['a1', 'b1', 'a2', 'b2', 'c1', 'a3', 'a4', 'a5']);
  });

  it('give a sender half of the places that the others leave, and any sender its first', async () => {
    const mostBeside = async (others: number): Promise<number> => {
      const { fill, occupy } = setUp(32);
      await occupy(others);
      return fill('me', 32);
    };
    const most = [];
    for (const others of [1, 16, 24, 28, 31, 32]) most.push(await mostBeside(others));
    expect(most).toEqual([16, 8, 4, 2, 1, 0]);
  });

  it('give a slow sender a quarter, until one of its records takes less than a second', async () => {
    const { fill, started, end, add } = setUp(32);
    expect(await fill('me', 8)).toBe(8);
    await pass(1_001);
    expect(await fill('me', 32)).toBe(0);
    for (const name of started.slice(0, 7)) await end(name);
    expect(started).toHaveLength(8 + 7);
    add('you', 'yours');
    await settle();
    expect(started.at(-1)).toBe('yours');
    for (const name of started.slice(7, -1)) await end(name);
    // The last ones took no time, so it is as quick as others.
    expect(started.length).toBeGreaterThan(8 + 7 + 1 + 8);
  });

  it('are given back by a slow sender that has its share, and by nobody else', async () => {
    const { add, fill, refused, started } = setUp(8);
    await fill('slow', 6, true);
    add('page', 'page 1');
    await settle();
    expect(started).toHaveLength(5);
    await pass(999);
    expect(refused).toEqual([]);
    await pass(300); // it is looked for now and then
    expect(refused).toHaveLength(2);
    await fill('slow', 3, true);
    expect(refused).toHaveLength(5);
    // A page waits for its answer: nothing is given back.
    await fill('page', 3);
    await pass(5_000);
    expect(refused).toHaveLength(5);
  });

  it('leave a sender its one record that waits, however many are slow', async () => {
    const { add, occupy, refused, started } = setUp(8);
    await occupy(8);
    for (let n = 0; n < 8; n++) add(`other ${n}`, `second of ${n}`, true);
    add('first of me', 'first of me', true);
    await pass(5_000);
    expect(started).toHaveLength(8);
    // All have a record under way, but for one, whose turn comes.
    expect(refused).toHaveLength(8);
    expect(refused).not.toContain('first of me');
  });

  it('give a sender that fails one place, and what has failed before a quarter', async () => {
    const { turns, fill } = setUp(32);
    turns.failed('bad');
    expect([await fill('bad', 5), await fill(AGAIN, 20), await fill('good', 9)]).toEqual([1, 8, 9]);
    turns.passed('bad');
    expect(await fill('bad', 1)).toBeGreaterThan(1);
  });

  it('are over when the work fails', async () => {
    const { turns } = setUp(1);
    const failing = turns.run('a', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await turns.run('b', async () => 'done')).toBe('done');
  });
});

describe('a sender that fails', () => {
  const setUpWaits = () => {
    const clock = { time: 1_000_000 };
    return { clock, turns: createTurns({ places: () => 1, ticks: () => clock.time }) };
  };

  it('waits for half as long as it has failed, a second at least, and nobody else does', () => {
    const { clock, turns } = setUpWaits();
    const began = clock.time;
    for (let tries = 0; tries < 100; tries++) {
      turns.failed('bad');
      const wait = Math.min(300_000, Math.max(1_000, (clock.time - began) / 2));
      expect(turns.waitMs('bad')).toBe(wait);
      expect(turns.waitMs('good')).toBe(0);
      clock.time += wait;
    }
    turns.passed('bad');
    expect(turns.waitMs('bad')).toBe(0);
    turns.failed('bad');
    expect(turns.waitMs('bad')).toBe(1_000);
    turns.tryNow();
    expect(turns.waitMs('bad')).toBe(0);
  });

  it.each([
    [599_999, 300_000],
    [600_000, 1_000],
  ])('begins anew if it has not failed for %i ms: it waits %i ms', (ms, wait) => {
    const { clock, turns } = setUpWaits();
    for (let tries = 0; tries < 20; tries++) {
      turns.failed('bad');
      clock.time += turns.waitMs('bad');
    }
    clock.time += ms;
    turns.failed('bad');
    expect(turns.waitMs('bad')).toBe(wait);
  });
});
