import { later } from '../later.js';
import { now } from '../page.js';

/** A timer that rings once, at the earliest of the times that it was set to. */
export const createAlarm = (ring: () => unknown) => {
  let timer: number | undefined;
  let at = Infinity;

  const stop = (): void => {
    clearTimeout(timer);
    at = Infinity;
  };
  return {
    stop,
    set: (time: number): void => {
      if (time >= at) return;
      stop();
      at = time;
      timer = later(ring, time - now());
    },
  };
};
