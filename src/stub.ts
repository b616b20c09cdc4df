/**
 * Inlined above the script tag: keeps calls, with their times and in their order, until the script comes.
 * Another global's name goes where `analytics` stands, and into `data-global`.
 */
type Globals = Record<string, unknown>;

((page: Globals, name: string) => {
  if (page[name]) return;
  const calls: unknown[] = [];
  const stub: Record<string, unknown> = { calls };
  for (const method of ['init', 'identify', 'event', 'reset', 'setConsent', 'on', 'flush']) {
    stub[method] = (...args: unknown[]) =>
      new Promise((done) => calls.push([Date.now(), method, args, done]));
  }
  page[name] = stub;
})(window as unknown as Globals, 'analytics');
