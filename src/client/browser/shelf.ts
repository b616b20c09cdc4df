let kept: Storage;

/**
 * WebKit gives `null` to a page that `window.close()` closes; what was read before still works
 * (https://bugs.webkit.org/show_bug.cgi?id=135330).
 */
const storage = (): Storage => {
  const given = localStorage;
  if (given !== null) kept = given;
  return kept;
};

/** localStorage throws in a sandboxed frame, if site data is blocked, and over quota. */
const attempt = <Result>(use: () => Result, otherwise: Result): Result => {
  try {
    return use();
  } catch {
    return otherwise;
  }
};

const set = (key: string, value: string | undefined): boolean =>
  attempt(() => {
    if (value === undefined) storage().removeItem(key);
    else storage().setItem(key, value);
    return true;
  }, false);

/** localStorage that does not throw: it is missing, blocked or full in some pages and modes. */
export const shelf = {
  get: (key: string): string | undefined =>
    attempt(() => storage().getItem(key) ?? undefined, undefined),
  /** Returns false if it is full or does not work; then the former value stays. */
  set,
  /** Does the same, but if there is no room, no value stays. */
  replace: (key: string, value: string): boolean =>
    set(key, value) || (set(key, undefined) && set(key, value)),
  keys: (): string[] => attempt(() => Object.keys(storage()), []),
};
