let kept: Storage;

/**
 * WebKit gives `null` to a page that `window.close()` closes; what was read before still works
 * (https://bugs.webkit.org/show_bug.cgi?id=135330).
 */
const storage = (): Storage => (kept = localStorage === null ? kept : localStorage);

const set = (key: string, value: string | undefined): boolean => {
  try {
    if (value === undefined) storage().removeItem(key);
    else storage().setItem(key, value);
    return true;
  } catch {
    return false; // a sandboxed frame, site data blocked, or over quota
  }
};

/** localStorage that does not throw: it is missing, blocked or full in some pages and modes. */
export const shelf = {
  get: (key: string): string | undefined => {
    try {
      return storage().getItem(key) ?? undefined;
    } catch {
      return undefined; // as above
    }
  },
  /** Where it is full, the former value stays. */
  set,
  /** Where it is full, nothing stays. */
  replace: (key: string, value: string): boolean =>
    set(key, value) || (set(key, undefined) && set(key, value)),
  keys: (): string[] => {
    try {
      return Object.keys(storage());
    } catch {
      return []; // as above
    }
  },
};
