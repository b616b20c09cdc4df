/**
 * Inlined above the script tag: keeps calls, with their times and in their order, until the script comes.
 * Another global's name goes where `analytics` stands, and into `data-global`.
 *
 * Pages keep it for years, beside later versions of the script and in browsers that cannot run the script. So
 * it has the syntax of 2015, and the form of `calls` never changes.
 */
type Globals = Record<string, unknown>;

((page: Globals, name: string) => {
  // Not `page[name]`: an element with that id would answer to it.
  if ({}.hasOwnProperty.call(page, name)) return;
  const calls: unknown[] = [];
  let waiting = 0;
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
  /** This is also what a flush without the script comes to. */
  const status = () => ({
    storage: 'none',
    consent: 'granted',
    paused: 'not-started',
    dropped: {},
    waiting,
    inFlight: 0,
    delivered: 0,
    retried: 0,
    rejected: 0,
    unknown: 0,
  });
  /** Settles when the script is blocked, missing, or not what its hash says; and after ten seconds. */
  const failed = new Promise((settle) => {
    setTimeout(settle, 10_000);
    const hear = ({ target }: Event) => {
      const { dataset } = target as HTMLElement;
      // All tags with options have these two.
      if (dataset && dataset.project && dataset.channel) settle(0);
    };
    addEventListener('error', hear, true);
  });
  const stub: Globals = { calls, status };
  for (const method of 'identify event init reset setConsent on flush stop'.split(' ')) {
    stub[method] = (...args: unknown[]) =>
      new Promise((done) => {
        if (method === 'flush') void failed.then(() => done(status()));
        // `event` or `identify`.
        if (/^(e|id)/.test(method)) {
          waiting++;
          // As they are now: the page may change them before the script comes.
          args = args.map(copy);
        }
        calls.push([+new Date(), method, args, done]);
      });
  }
  page[name] = stub;
})(window as unknown as Globals, 'analytics');
