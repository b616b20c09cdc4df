import { vi } from 'vitest';

/** Whatever a script may use to leave something behind. */
const LASTING = [
  'addEventListener',
  'fetch',
  'queueMicrotask',
  'requestIdleCallback',
  'setInterval',
  'setTimeout',
] as const;

/** Watches the globals from now on. Answers with what tells of each trace left since. */
export const watchGlobals = () => {
  const before = new Set(Object.getOwnPropertyNames(globalThis));
  const page = (globalThis as { document?: EventTarget }).document;
  const globals = globalThis as unknown as Record<string, () => unknown>;
  const spies = LASTING.filter((name) => name in globalThis).map((name) => ({
    name,
    spy: vi.spyOn(globals, name),
  }));
  if (page)
    spies.push({ name: 'addEventListener', spy: vi.spyOn(page, 'addEventListener') as never });
  return (): string[] => [
    ...spies.filter(({ spy }) => spy.mock.calls.length > 0).map(({ name }) => `called ${name}`),
    ...Object.getOwnPropertyNames(globalThis)
      .filter((name) => !before.has(name))
      .map((name) => `added ${name}`),
  ];
};
