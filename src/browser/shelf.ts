let kept: Storage;

/**
 * WebKit gives `null` to a page that `window.close()` closes; what was read before still works
 * (https://bugs.webkit.org/show_bug.cgi?id=135330).
 */
const storage = (): Storage => (kept = localStorage === null ? kept : localStorage);

/** localStorage that does not throw: it is missing, blocked or full in some pages and modes. */
export const shelf = {
  get: (key: string): string | undefined => {
    try {
      return storage().getItem(key) ?? undefined;
    } catch {
      return undefined; // a sandboxed frame, or site data blocked
    }
  },
  set: (key: string, value: string | undefined): boolean => {
    try {
      if (value === undefined) storage().removeItem(key);
      else storage().setItem(key, value);
      return true;
    } catch {
      return false; // as above, or over quota
    }
  },
  keys: (): string[] => {
    try {
      return Object.keys(storage());
    } catch {
      return []; // as above
    }
  },
};
