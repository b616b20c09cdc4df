import { shelf } from '../../src/client/page.js';
import type { Setup } from './setup.js';
import { tracker } from './tracker.js';

const KEY = 'demo idempotency keys';

/** Changes options while the page runs, by a second `init`. */
export const createConfigure = ({ options }: Setup) => {
  let isOn = shelf.get(KEY) === 'on';

  let applied = 0;

  const apply = (): void => {
    const given = options();
    // Slightly different each time: to the tracker that is a change, and reason to go on at once.
    const timeout = given.timeout! + (++applied % 2);
    if (given.relay !== undefined) tracker().init({ ...given, timeout });
    else tracker().init({ ...given, timeout, idempotencyKey: isOn });
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
