import { shelf } from '../../src/client/browser/shelf.js';
import type { Setup } from './setup.js';
import { tracker } from './tracker.js';

const KEY = 'demo idempotency keys';

/** Changes options while the page runs, by a second `init`. */
export const createConfigure = ({ options }: Setup) => {
  let isOn = shelf.get(KEY) === 'on';

  const apply = (): void => {
    const given = options();
    // A new function each time: to the tracker that is a change, and reason to go on at once.
    if (given.relay !== undefined) tracker().init({ ...given, now: () => Date.now() });
    else tracker().init({ ...given, token: () => given.token as string, idempotencyKey: isOn });
  };

  if (isOn) apply();
  return {
    hasKeys: (): boolean => isOn,
    useKeys: (on: boolean): void => {
      shelf.set(KEY, on ? 'on' : undefined);
      isOn = on;
      apply();
    },
    /** Delivery that waits for a good set-up, or for a network, goes on. */
    resume: apply,
  };
};

export type Configure = ReturnType<typeof createConfigure>;
