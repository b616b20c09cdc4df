type Globals = Record<string, unknown>;

/** Replaces globals. Returns a function that puts back what was there. */
export const replaceGlobals = (globals: Globals): (() => void) => {
  const former = Object.keys(globals).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return () => {
    for (const [name, descriptor] of former) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
  };
};

/** What the client reads of a page that is visible. All clients share the localStorage, each under a name of its own. */
export const pageGlobals = (random: () => number): Globals => {
  const values = new Map<string, string>();
  return {
    document: { visibilityState: 'visible' },
    window: { addEventListener: () => undefined, removeEventListener: () => undefined },
    navigator: { onLine: true },
    localStorage: {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => void values.set(key, value),
      removeItem: (key: string) => void values.delete(key),
    },
    Math: Object.assign(Object.create(Math) as object, { random }),
  };
};
