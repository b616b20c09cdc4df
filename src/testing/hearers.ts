import type { Settings } from '../client/config/options.js';
import type { Emit } from '../client/status.js';
import type { Analytics, DeliveryError, Drop } from '../client/types.js';

/** Tells the listeners of `on`, the callbacks among the options, and the test. */
export const createHearers = (settings: () => Settings) => {
  const listeners = new Map<string, Set<(payload: never) => void>>();
  const drops: Drop[] = [];
  const errors: DeliveryError[] = [];

  const emit: Emit = (type, make) => {
    const payload = make();
    const { onDrop, onError } = settings();
    if (type === 'drop') drops.push(payload as Drop);
    if (type === 'error') errors.push(payload as DeliveryError);
    const option = type === 'drop' ? onDrop : type === 'error' ? onError : undefined;
    for (const listener of [option, ...(listeners.get(type) ?? [])]) {
      try {
        (listener as ((payload: unknown) => void) | undefined)?.(payload);
      } catch {
        // As outside of tests: a listener that throws stops nothing.
      }
    }
  };

  const on: Analytics['on'] = (type, listener) => {
    const set = listeners.get(type) ?? new Set();
    listeners.set(type, set.add(listener));
    return () => set.delete(listener);
  };

  return { emit, on, drops, errors, clear: () => listeners.clear() };
};
