import { createSeenMemory } from '../../../src/relay.js';
import { createMemoryQueue } from './memory-queue.js';
import { describeQueue } from './queue-contract.js';
import { describeSeen } from './seen-contract.js';

const createClock = () => {
  let time = 1_000_000;
  return { now: () => time, pass: async (ms: number) => void (time += ms) };
};

describeQueue('the reference', async () => {
  const { now, pass } = createClock();
  let queue: ReturnType<typeof createMemoryQueue> | undefined;
  return {
    open: async (bounds) => (queue ??= createMemoryQueue(now, bounds)),
    pass,
    deadLetters: async () => queue!.dead,
  };
});

describeSeen('memory', async () => {
  const { now, pass } = createClock();
  const seen = createSeenMemory({ now });
  return { open: async () => seen, pass };
});
