/** A localStorage: its keys are found by `Object.keys`, like those of the browser's own. It takes so many characters. */
export const createLocalStorage = (
  values = new Map<string, string>(),
  room: () => number = () => Infinity,
): Storage =>
  new Proxy(
    {
      getItem: (key: string) => values.get(key) ?? null,
      setItem: (key: string, value: string) => {
        const before = values.get(key);
        values.set(key, value);
        if (lengthOf(values) <= room()) return;
        if (before === undefined) values.delete(key);
        else values.set(key, before);
        throw new DOMException('full', 'QuotaExceededError');
      },
      removeItem: (key: string) => void values.delete(key),
    },
    {
      ownKeys: () => [...values.keys()],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    },
  ) as Storage;

export const lengthOf = (values: ReadonlyMap<string, string>): number =>
  [...values].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
