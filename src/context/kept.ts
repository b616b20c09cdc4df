import type { Instance, Keep } from './types.js';

/** Replaces a kept value by what is made of it, and answers with that. */
type Update<Value> = (change: (value: Partial<Value>) => Partial<Value>) => Partial<Value>;

/** Values that may not be stored, or not yet. One for the page, so that a part that is set up twice has one value. */
const held = new Map<string, object>();

/** A value that is stored once the instance may store, and no longer: before that, storage is not read either. */
export const kept = <Value extends object>(
  analytics: Instance,
  name: string,
  keep: Keep,
): Update<Value> => {
  const key = `analytics-outbox ${name}`;
  let isOpen = false;
  /** There is no storage in some pages and modes, and it may be full: then memory has to do. */
  const attempt = <Result>(work: (storage: Storage) => Result): Result | undefined => {
    try {
      return work(keep === 'tab' ? sessionStorage : localStorage);
    } catch {
      return undefined;
    }
  };
  const remove = () => attempt((storage) => storage.removeItem(key));

  const update: Update<Value> = (change) => {
    // Not asked again once it may.
    isOpen ||= keep !== 'memory' && analytics.status().storage !== 'none';
    let text: string | null | undefined;
    const stored =
      isOpen && attempt((storage) => JSON.parse((text = storage.getItem(key))!) as Value);
    const value = change(stored || (held.get(key) as Value | undefined) || {});
    const next = JSON.stringify(value);
    held.set(key, value);
    if (isOpen) {
      attempt((storage) => {
        if (next !== text) storage.setItem(key, next);
        held.delete(key);
      });
      // Storage is full: nothing old stays. Never before it is written, or other tabs see that there is none.
      if (held.has(key)) remove();
    }
    return value;
  };
  // The next user of the computer has nothing of this one's.
  void analytics.on('reset', () => void update(() => ({})));
  void analytics.on('consent', ({ consent }) => {
    isOpen = false;
    if (consent === 'denied') {
      held.delete(key);
      remove();
    } else if (held.has(key)) update((value) => value); // stores what was held
  });
  return update;
};
