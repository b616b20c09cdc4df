import { promisifyRequest } from 'idb-keyval';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../src/client/outbox/database.js';
import { fakeTime, pass, settle } from '../../support/clock.js';
import { NAME, openSite } from '../../support/site.js';

beforeEach(() => {
  fakeTime();
  openSite();
});
afterEach(async () => {
  await settle();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const open = (isBarred?: () => unknown) => {
  const kinds: string[] = [];
  const database = openDatabase(NAME, (kind) => kinds.push(kind), isBarred);
  const run = async (): Promise<string> => {
    const running = database.run((store) => promisifyRequest(store.count()));
    const seen = running.then(
      () => 'done',
      () => 'failed',
    );
    await pass(1_000);
    return seen;
  };
  return { database, kinds, run };
};

describe('a database', () => {
  it('says that it works once a transaction has ended well', async () => {
    const { run, kinds } = open();
    expect(await run()).toBe('done');
    expect(kinds).toEqual(['indexeddb']);
  });

  it('that hangs counts as failed after a second, refuses work, and is tried again after 10, then 20 s', async () => {
    const hang = vi.fn(() => ({}));
    vi.stubGlobal('indexedDB', { open: hang });
    const { run, kinds } = open();
    expect([await run(), await run()]).toEqual(['failed', 'failed']);
    expect(hang).toHaveBeenCalledTimes(1);
    expect(kinds).toEqual(['memory']);
    await pass(10_000);
    expect(kinds).toEqual(['memory', 'opening']);
    expect(await run()).toBe('failed');
    await pass(19_000);
    expect(kinds).toEqual(['memory', 'opening', 'memory']);
    await pass(1_000);
    expect(kinds).toEqual(['memory', 'opening', 'memory', 'opening']);
  });

  it('ends what is being read as it is closed: a claim must not go on after a denial', async () => {
    const { database } = open();
    const read = vi.fn();
    const claim = database.run(async (store) => {
      for (let i = 0; i < 20; i++) read(await promisifyRequest(store.count()));
    }, true);
    claim.catch(() => undefined);
    while (!read.mock.calls.length) await new Promise((done) => setImmediate(done));
    void database.end();
    await expect(claim).rejects.toThrow();
    expect(read.mock.calls.length).toBeLessThan(20);
  });

  it('that never works is tried again once an hour, on a page that stays open for weeks', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const { kinds, run } = open();
    const tries = () => kinds.filter((kind) => kind === 'memory').length;
    for (let i = 0; i < 20; i++) {
      await run();
      vi.advanceTimersToNextTimer();
    }
    const before = tries();
    const end = Date.now() + 10 * 3_600_000;
    while (Date.now() < end && tries() < before + 20) {
      await run();
      vi.advanceTimersToNextTimer();
    }
    expect(tries() - before).toBeGreaterThan(8);
    expect(tries() - before).toBeLessThan(12);
  });

  it('undoes a transaction whose work throws', async () => {
    const { database, run } = open();
    await run();
    const failed = database.run((store) => {
      store.put('value', 'key');
      throw new Error('broken');
    });
    await expect(failed).rejects.toThrow();
    await pass(10_000);
    const count = database.run((store) => promisifyRequest(store.count()));
    expect(await count).toBe(0);
  });

  it('refuses work while it is barred, and after its end', async () => {
    let isBarred = true;
    const { database, run } = open(() => isBarred);
    expect(await run()).toBe('failed');
    await pass(10_000);
    isBarred = false;
    expect(await run()).toBe('done');
    await database.end();
    expect(await run()).toBe('failed');
  });
});
