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
  const calls: unknown[][] = [];
  let waiting = 0;
  const copy = (value: unknown) => {
    try {
      return JSON.parse(JSON.stringify(value));
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
    inFlight: 0,
    delivered: 0,
    rejected: 0,
    retried: 0,
    unknown: 0,
    waiting,
  });
  // If the page is left before the script has come, its calls are kept. The script makes them on the tab's next page.
  addEventListener('pagehide', () => {
    try {
      const { project, consent } =
        document.querySelector<HTMLElement>('script[data-project]')!.dataset;
      const key = name + project;
      const text = JSON.stringify(calls);
      // If there are any: not where consent is asked for, nor an `init`, which has the token, nor a `stop()`, which is
      // for this page.
      if (!consent && !/^.]|\[\d{13},"(s|in)/.test(text)) {
        sessionStorage[key] = (sessionStorage[key] || '[').replace(/]$/, ',') + text.slice(1);
        calls.length = 0;
      }
    } catch {
      // No tag, or no storage.
    }
  });
  const stub: Globals = { calls, status };
  for (const method of 'identify event init reset setConsent on flush stop'.split(' ')) {
    stub[method] = (...args: unknown[]) => {
      let done: (value: unknown) => void;
      const answer = new Promise((settle) => (done = settle));
      // `event` or `identify`.
      if (/^e|id/.test(method)) {
        waiting++;
        // As they are now: the page may change them before the script comes.
        args = args.map(copy);
      }
      if (calls.length < 1e4) calls.push([+new Date(), method, args, done!]);
      if (method === 'on') return () => answer.then((off) => (off as () => void)());
      if (method !== 'flush') return;
      // Unless the script answers first: it may be blocked, or missing.
      setTimeout(() => done(status()), 1_000);
      return answer;
    };
  }
  page[name] = stub;
})(window as unknown as Globals, 'analytics');
