import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createTell } from '../../../src/server/hooks.js';
import { holdTarget, withLock, type HeldTarget } from '../../../src/server/exports/hold-target.js';
import type { Progress } from '../../../src/server/store/progress.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';

vi.mock('../../../src/server/store/lock-ms.js', () => ({ LOCK_MS: 600 }));

const NAME = 'house/db';

/** What several processes know of one target. */
const openProgress = (): Progress => {
  const store = createLibsqlStore({ path: join(tempFolder(), 'rows.db') });
  onTestFinished(() => store.close());
  return store.progress;
};

/** Work that goes on until it has to end. */
const untilAborted = ({ signal }: HeldTarget): Promise<void> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

/** A process that works with the target, and what became of its work. */
const tellInto = (seen: string[]) =>
  createTell({
    onError: ({ message }) => void seen.push(message),
    onRecovery: () => void seen.push('recovered'),
  });
const run = (progress: Progress, work: typeof untilAborted = untilAborted, from?: number) => {
  const seen: string[] = [];
  const stop = holdTarget({
    ...{ progress, name: NAME },
    ...(from !== undefined && { from: async () => from }),
    work: async (held, works) => {
      seen.push(`begins at ${held.lock.place}`);
      works();
      await work(held).finally(() => seen.push('ends'));
    },
    tell: tellInto(seen),
    problemOf: (words) => ({ kind: 'export', message: `cannot: ${words}` }),
  });
  onTestFinished(stop);
  return { seen, stop };
};
/** Settles when a process has looked for the target some times without getting it. */
const looksInVain = async (progress: Progress, times: number): Promise<void> => {
  const take = vi.spyOn(progress, 'take');
  await vi.waitFor(() => expect(take.mock.calls.length).toBeGreaterThanOrEqual(times));
  expect(take).not.toHaveResolvedWith(expect.anything());
  take.mockRestore();
};

it('works in one process for as long as that renews its lock, and then in the next one', async () => {
  const progress = openProgress();
  const one = run(progress, untilAborted, 7);
  await vi.waitFor(() => expect(one.seen).toEqual(['begins at 7']));
  const other = run(progress);
  await looksInVain(progress, 8); // that is longer than a lock holds
  await one.stop();
  expect(one.seen).toEqual(['begins at 7', 'ends']);
  await vi.waitFor(() => expect(other.seen).toEqual(['begins at 7']));
});

it('goes on behind the place of a process that was killed', async () => {
  const progress = openProgress();
  const lock = (await progress.take(NAME, 'killed'))!;
  await progress.keep(lock, { place: 3 });
  const { seen } = run(progress);
  await vi.waitFor(() => expect(seen).toEqual(['begins at 3']));
});

it('ends its work when another process takes the target, and goes on when that gives it back', async () => {
  const progress = openProgress();
  const { seen } = run(progress);
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  const lock = (await progress.take(NAME, 'other', { force: true }))!;
  await vi.waitFor(() => expect(seen).toEqual(['begins at 0', 'ends']));
  await progress.keep(lock, { place: 5 });
  await progress.release(lock);
  await vi.waitFor(() => expect(seen).toEqual(['begins at 0', 'ends', 'begins at 5']));
});

it('writes nothing down for a target that another process has', async () => {
  const progress = openProgress();
  const { seen } = run(progress, async ({ keep }) => {
    await progress.take(NAME, 'other', { force: true });
    await keep({ place: 9 });
  });
  await vi.waitFor(() => expect(seen).toEqual(['begins at 0', 'ends']));
  expect(await progress.targets()).toMatchObject([{ place: 0 }]);
});

it('reports a failure once, tries again, and says when it is over', async () => {
  const progress = openProgress();
  let isAway = true;
  const seen: string[] = [];
  const stop = holdTarget({
    ...{ progress, name: NAME },
    work: async (held, works) => {
      if (isAway) {
        seen.push('fails');
        throw new Error('it is away');
      }
      works();
      await untilAborted(held);
    },
    tell: tellInto(seen),
    problemOf: (message) => ({ kind: 'export', message }),
  });
  onTestFinished(stop);
  await vi.waitFor(() => expect(seen).toEqual(['fails', 'it is away', 'fails']));
  isAway = false;
  await vi.waitFor(() => expect(seen.at(-1)).toBe('recovered'));
  // It gives the target back between two tries.
  await stop();
  expect(await progress.targets()).toMatchObject([{ isHeld: false }]);
});

it('ends at once while it works, waits for the target, or waits after a failure', async () => {
  // No wait ends by itself.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const atOnce = { interval: 0 };
  const progress = openProgress();
  const working = run(progress);
  await vi.waitFor(() => expect(working.seen).toHaveLength(1), atOnce);
  const take = vi.spyOn(progress, 'take');
  const waiting = run(progress);
  await vi.waitFor(() => expect(take).toHaveResolvedWith(undefined), atOnce);
  const failing = run(openProgress(), () => Promise.reject(new Error('it is away')));
  await vi.waitFor(() => expect(failing.seen).toContain('cannot: it is away'), atOnce);
  await Promise.all([waiting, failing, working].map(({ stop }) => stop()));
  expect([waiting.seen, working.seen]).toEqual([[], ['begins at 0', 'ends']]);
  expect(await progress.targets()).toMatchObject([{ isHeld: false }]);
});

it('says that the lock was lost, whatever the work makes of it', async () => {
  const progress = openProgress();
  const lock = (await progress.take(NAME, 'one'))!;
  const work = withLock(progress, lock, untilAborted);
  await progress.take(NAME, 'other', { force: true });
  await expect(work).rejects.toThrow('another process has taken house/db');
  expect(await progress.targets()).toMatchObject([{ isHeld: true }]);
});
