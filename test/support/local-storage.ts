/** A localStorage: its keys are found by `Object.keys`, like those of the browser's own. */
export const createLocalStorage = (values = new Map<string, string>()): Storage =>
  new Proxy(
    {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => void values.set(key, value),
      removeItem: (key: string) => void values.delete(key),
    },
    {
      ownKeys: () => [...values.keys()],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    },
  ) as Storage;
