/** localStorage that does not throw: it is missing, blocked or full in some pages and modes. */
export const shelf = {
  get: (key: string): string | undefined => {
    try {
      return localStorage.getItem(key) ?? undefined;
    } catch {
      return undefined; // a sandboxed frame, or site data blocked
    }
  },
  set: (key: string, value: string | undefined): boolean => {
    try {
      if (value === undefined) localStorage.removeItem(key);
      else localStorage.setItem(key, value);
      return true;
    } catch {
      return false; // as above, or over quota
    }
  },
  keys: (): string[] => {
    try {
      return Object.keys(localStorage);
    } catch {
      return []; // as above
    }
  },
};
