/**
 * Inlined above the script tag: keeps calls, with their times and in their order, until the script comes.
 * Another global's name goes where `analytics` stands, and into `data-global`.
 */
type Globals = Record<string, unknown>;

((page: Globals, name: string) => {
  // Not `page[name]`: an element with that id would answer to it.
  if (Object.hasOwn(page, name)) return;
  const calls: unknown[] = [];
  // Some libraries give all arrays a `toJSON` that makes texts of them.
  function asArray(this: Globals, key: string, value: unknown) {
    return Array.isArray(this[key]) ? this[key] : value;
  }
  const copy = (value: unknown) => {
    try {
      return JSON.parse(JSON.stringify(value, asArray));
    } catch {
      return value; // undefined; or dropped later, with the reason
    }
  };
  const stub: Record<string, unknown> = { calls };
  for (const method of ['identify', 'event', 'init', 'reset', 'setConsent', 'on', 'flush']) {
    stub[method] = (...args: unknown[]) =>
      new Promise((done) => {
        // As they are now: the page may change them before the script comes.
        if (method[0] === 'e' || method === 'identify') args = args.map(copy);
        calls.push([+new Date(), method, args, done]);
      });
  }
  page[name] = stub;
})(window as unknown as Globals, 'analytics');
