import { expect, it, onTestFinished, vi } from 'vitest';
import { createGroups } from '../../src/server/store/groups.js';

/** Items that run too long: alone, or in any group. */
const setUp = (isSlow: (item: string) => boolean, lanes = 1) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const runs: string[] = [];
  const groups = createGroups<string, string>({
    lanes,
    isLate: (error) => String(error).includes('late'),
    run: async (items) => {
      runs.push(items.join(' '));
      await new Promise(setImmediate);
      if (items.includes('broken')) throw new Error('away');
      if (!items.some(isSlow)) return [...items];
      vi.advanceTimersByTime(10_000);
      throw new Error('late');
    },
  });
  const add = (item: string, isHeavy = false) => {
    const [sender] = item.split('-');
    const words = (error: unknown) => [String(error)];
    return groups.add([item], { sender, isHeavy }).catch(words);
  };
  return { runs, add, all: (...items: string[]) => Promise.all(items.map((item) => add(item))) };
};

it('runs what each sender asks for by itself where a group was late and others pass', async () => {
  const { runs, all } = setUp((item) => item.startsWith('slow'));
  // The first one of all runs, and all others wait for it.
  const results = await all('ok', 'a-1', 'slow-1', 'b-1', 'slow-2', 'a-2');
  expect(runs).toEqual([...['ok', 'a-1 slow-1 b-1 slow-2 a-2', 'a-1 a-2', 'slow-1 slow-2', 'b-1']]);
  const late = 'Error: late';
  expect(results.flat()).toEqual(['ok', 'a-1', late, 'b-1', late, 'a-2']);
});

it('tries nobody again where none has passed a moment ago, or two fail one after the other', async () => {
  const { runs, all, add } = setUp(() => isSlow);
  let isSlow = true;
  await all('ok', 'a', 'b', 'c');
  expect(runs).toEqual(['ok', 'a b c']);
  isSlow = false;
  runs.length = 0;
  const passed = add('ok');
  const others = all('a', 'b', 'c', 'd');
  await passed;
  isSlow = true;
  await others;
  expect(runs).toEqual(['ok', 'a b c d', 'a', 'b']);
});

it('fails all for anything but lateness', async () => {
  const { runs, all } = setUp(() => false);
  expect((await all('ok', 'a', 'broken')).flat()).toEqual(['ok', 'Error: away', 'Error: away']);
  expect(runs).toEqual(['ok', 'a broken']);
});

it('lets what is heavy of a slow sender go last, alone, and no more when it has passed', async () => {
  let isSlow = true;
  const { runs, all, add } = setUp((item) => isSlow && item.startsWith('slow'), 2);
  await Promise.all([all('ok', 'ok'), add('slow-1', true), add('a', true), add('b')]);
  expect(runs).toEqual(['ok', 'ok', 'slow-1 a b', 'b', 'slow-1', 'a']);
  await new Promise(setImmediate);
  runs.length = 0;
  const light = add('slow-light');
  await Promise.all([all('ok'), light, add('slow-2', true), all('a', 'b', 'c')]);
  expect(runs).toEqual(['slow-light', 'ok', 'a b c', 'slow-2']);
  isSlow = false;
  await new Promise(setImmediate);
  runs.length = 0;
  await Promise.all([all('ok', 'ok'), add('slow-3', true), add('a')]);
  await new Promise(setImmediate);
  await Promise.all([all('ok', 'ok'), add('slow-4', true), add('a')]);
  expect(runs).toEqual(['ok', 'ok', 'a', 'slow-3', 'ok', 'ok', 'slow-4 a']);
});

it('fails what is heavy of a slow sender where others come all the time', async () => {
  const { add, all } = setUp((item) => item.startsWith('slow'));
  await Promise.all([all('ok'), add('slow-1', true), add('a')]);
  let isOver = false;
  const busy = async (): Promise<void> => {
    while (!isOver) await add('a');
  };
  const others = [busy(), busy()];
  const last = add('slow-2', true).finally(() => (isOver = true));
  await new Promise(setImmediate);
  vi.advanceTimersByTime(10_001);
  expect(await last).toEqual(['Error: it takes too long while others wait']);
  await Promise.all(others);
});
