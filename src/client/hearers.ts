import { isLocalHost } from './browser/is-local-host.js';
import type { Settings } from './config/options.js';
import { createAdvice, createDebugLog, log } from './console.js';
import type { Emit } from './status.js';
import type { Listeners } from './types.js';

/** The events that `on` takes. */
export const TYPES: Readonly<Record<keyof Listeners, 1>> = {
  record: 1,
  sent: 1,
  outcome: 1,
  drop: 1,
  error: 1,
  storage: 1,
  consent: 1,
  reset: 1,
};

/** Tells of what happens: the listeners of `on`, the options `onDrop` and `onError`, and a developer's console. */
export const createHearers = (settings: () => Settings | undefined) => {
  const listeners = new Map<string, Set<(payload: never) => void>>();
  const advise = createAdvice();
  const logStep = createDebugLog();

  const emit: Emit = (type, make) => {
    const { onDrop, onError, debug } = settings() ?? {};
    const option = type === 'drop' ? onDrop : type === 'error' ? onError : undefined;
    const heard = listeners.get(type);
    const isAdvised = debug || (/^(drop|error|storage)$/.test(type) && isLocalHost());
    if (!option && !heard?.size && !isAdvised) return;
    const payload = make();
    for (const listener of [option, ...(heard ?? [])]) {
      try {
        (listener as ((payload: unknown) => void) | undefined)?.(payload);
      } catch (error) {
        // A listener of the page that throws must not stop delivery.
        if (debug) log('a listener failed', error);
      }
    }
    if (debug) logStep(type, payload);
    else if (isAdvised) advise(payload);
  };

  return {
    emit,
    on: <Type extends keyof Listeners>(
      type: Type,
      listener: (payload: Listeners[Type]) => void,
    ): (() => void) => {
      const set = listeners.get(type) ?? new Set();
      listeners.set(type, set);
      set.add(listener);
      return () => set.delete(listener);
    },
    clear: (): void => listeners.clear(),
  };
};
