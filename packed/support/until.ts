import { setTimeout as sleep } from 'node:timers/promises';

const GIVE_UP_MS = 120_000;
const LOOK_EVERY_MS = 20;

/** Waits for something to hold. */
export const until = async (holds: () => boolean | Promise<boolean>, what: string) => {
  const end = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited too long for ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
};
