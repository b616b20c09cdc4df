import type { Setup } from './setup.js';
import { tracker } from './tracker.js';

const KEY = 'demo idempotency keys';

/** Changes options while the page runs, by a second `init`. */
export const createConfigure = ({ options }: Setup) => {
  const apply = (): void => {
    const { token, ...rest } = options();
    tracker().init({
      ...rest,
      // A new function each time: to the tracker that is a new token, and reason to go on at once.
      token: () => token as string,
      idempotencyKey: hasKeys(),
    });
  };
  const hasKeys = (): boolean => sessionStorage.getItem(KEY) === 'on';

  if (hasKeys()) apply();
  return {
    hasKeys,
    useKeys: (on: boolean): void => {
      sessionStorage.setItem(KEY, on ? 'on' : 'off');
      apply();
    },
    /** Delivery that waits for a good set-up, or for a network, goes on. */
    resume: apply,
  };
};

export type Configure = ReturnType<typeof createConfigure>;
