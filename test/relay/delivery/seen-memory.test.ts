import { describe, expect, it } from 'vitest';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';
import type { BatchResult } from '../../../src/interface/wire.js';

const done = (id: string): BatchResult => ({ id, outcome: 'delivered', status: 200 });

describe('the ids in memory', () => {
  it('gives an id to the first that asks', async () => {
    const seen = createSeenMemory();
    const [first, second] = await Promise.all([
      seen.begin(['a', 'b'], 1_000),
      seen.begin(['b'], 1),
    ]);
    expect(first).toEqual([{ state: 'new' }, { state: 'new' }]);
    expect(second).toEqual([{ state: 'begun' }]);
  });

  it('remembers what a record came to, the last result of it', async () => {
    const seen = createSeenMemory();
    await seen.begin(['a'], 1_000);
    await seen.finish([{ id: 'a', outcome: 'accepted', status: 0 }]);
    await seen.finish([done('a')]);
    expect(await seen.begin(['a'], 1_000)).toEqual([{ state: 'done', result: done('a') }]);
  });

  it('gives out again what was given up', async () => {
    const seen = createSeenMemory();
    await seen.begin(['a'], 1_000);
    await seen.forget(['a']);
    expect(await seen.begin(['a'], 1_000)).toEqual([{ state: 'new' }]);
  });

  it('ends a claim by itself, and a memory at its age', async () => {
    let time = 0;
    const seen = createSeenMemory({ now: () => time, maxAge: 5_000 });
    await seen.begin(['a'], 1_000);
    time = 999;
    expect(await seen.begin(['a'], 1_000)).toEqual([{ state: 'begun' }]);
    time = 1_000;
    expect(await seen.begin(['a'], 1_000)).toEqual([{ state: 'new' }]);
    await seen.finish([done('a')]);
    time = 5_999;
    expect(await seen.begin(['a'], 1_000)).toEqual([{ state: 'done', result: done('a') }]);
    time = 6_000;
    expect(await seen.begin(['a'], 1_000)).toEqual([{ state: 'new' }]);
  });

  it('drops the oldest when it is full', async () => {
    const seen = createSeenMemory({ maxIds: 2 });
    await seen.finish([done('a'), done('b'), done('c')]);
    expect(await seen.begin(['b', 'c'], 1)).toEqual([
      { state: 'done', result: done('b') },
      { state: 'done', result: done('c') },
    ]);
    expect(await seen.begin(['a'], 1)).toEqual([{ state: 'new' }]);
  });

  it('has a client that floods it lose its own ids only', async () => {
    const seen = createSeenMemory({ maxIds: 10 });
    await seen.begin(['mine'], 1_000, 'me');
    await seen.finish([done('mine')], 'me');
    const forged = Array.from({ length: 100 }, (_, i) => `forged${i}`);
    for (const id of forged) {
      await seen.begin([id], 1_000, 'flood');
      await seen.finish([done(id)], 'flood');
    }
    // More clients than there is room share the rest.
    for (let i = 0; i < 5; i++) await seen.finish([done(`other${i}`)], `other${i}`);
    expect(await seen.begin(['mine'], 1_000, 'me')).toEqual([
      { state: 'done', result: done('mine') },
    ]);
    const known = await seen.begin(forged, 1_000, 'flood');
    expect(known.filter(({ state }) => state === 'done').length).toBeLessThanOrEqual(9);
  });

  it('counts a record for the client that began it, whoever finishes it', async () => {
    const seen = createSeenMemory({ maxIds: 2 });
    await seen.begin(['a', 'b'], 1_000, 'me');
    await seen.finish([done('a'), done('b')], 'a consumer');
    await seen.begin(['c'], 1_000, 'other');
    expect(await seen.begin(['b', 'c'], 1_000)).toEqual([
      { state: 'done', result: done('b') },
      { state: 'begun' },
    ]);
  });
});
