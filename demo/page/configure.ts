import { shelf } from '../../src/client/page.js';
import type { Setup } from './setup.js';
import { tracker } from './tracker.js';

const KEY = 'demo idempotency keys';

/** Changes options while the page runs, by a second `init`. */
export const createConfigure = ({ options }: Setup) => {
  let isOn = shelf.get(KEY) === 'on';

  let isFunction = false;

  const apply = (): void => {
    const given = options();
    // With a function and without one in turns: to the tracker that is a change, and reason to go on at once.
    isFunction = !isFunction;
    if (given.relay !== undefined) {
      tracker().init(isFunction ? { ...given, now: () => Date.now() } : given);
    } else {
      const text = given.token as string;
      tracker().init({ ...given, token: isFunction ? () => text : text, idempotencyKey: isOn });
    }
  };

  if (isOn) apply();
  return {
    hasKeys: (): boolean => isOn,
    useKeys: (on: boolean): void => {
      if (on) shelf.set(KEY, 'on');
      else shelf.remove(KEY);
      isOn = on;
      apply();
    },
    /** Starts a tracker that was stopped. One that waits for a good set-up, or for a network, goes on. */
    apply,
  };
};

export type Configure = ReturnType<typeof createConfigure>;
