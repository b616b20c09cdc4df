/**
 * Inlined above the script tag: keeps calls, with their times and in their order, until the script comes.
 * Another global's name goes where `analytics` stands at the end, and into `data-global`.
 *
 * Pages keep it for years, beside later versions of the script and in browsers that cannot run the script. So
 * it has the syntax of 2015, and the form of `calls` changes only by what is added at the end of a call.
 */
type Globals = Record<string, unknown>;

/** `title` and `path` are those of the page at the call. */
type Kept = [
  at: number,
  method: string,
  args: unknown[],
  done: ((value: unknown) => void) | undefined,
  title: string,
  path: string,
];

((page: Globals, name: string) => {
  // Not `page[name]`: an element with that id would answer to it.
  if ({}.hasOwnProperty.call(page, name)) return;
  const calls: Kept[] = [];
  /** The last word of consent. */
  let said: unknown;
  let keeping: unknown;
  const isRecord = (call: Kept) => /^e|id/.test(call[1]);
  const copy = (value: unknown) => {
    try {
      return JSON.parse(JSON.stringify(value));
    } catch {
      return value; // undefined; or dropped later, with the reason
    }
  };
  /** This is also what a flush without the script comes to. Its order, and that of the methods, compresses best. */
  const status = () => ({
    paused: 'not-started',
    inFlight: 0,
    delivered: 0,
    rejected: 0,
    retried: 0,
    waiting: calls.filter(isRecord).length,
    consent: 'granted',
    unknown: 0,
    storage: 'none',
    dropped: {},
  });
  /**
   * If the page is left before the script has come, the script makes its calls on the tab's next page. They are kept
   * at each call while the page loads, since WebKit does not tell a page that has not loaded that it is left. A frame
   * keeps none: the page around it would make them while the frame still has them.
   */
  const keep = (event?: unknown) => {
    keeping = 0;
    try {
      const { dataset } = [...document.scripts].find(
        ({ dataset }) => (dataset['global'] || 'analytics') == name && dataset['project'],
      )!;
      const key = name + dataset['project'];
      const [[at]] = calls as [Kept];
      const storage = sessionStorage as Globals;
      // A denial removes what earlier pages have kept, too. Without a call the denial itself is kept, since this page has
      // been left before.
      for (const other in storage) {
        if (said == 'denied' && other.endsWith(key)) delete storage[other];
      }
      // Nothing is kept if there was an `init`, which has the token, or a `stop()`, which is for this page, or while
      // consent is `pending` or denied by the tag. The list is tested as a text: the methods of the calls, and the word of
      // consent, with `data-` before it if it is the tag's.
      if (
        page == page['top'] &&
        !/in|st|a-d/.test([
          ...calls.map((call) => call[1]),
          said || 'data-' + [dataset['consent']],
        ] as never)
      ) {
        storage[at + key] = JSON.stringify(calls);
        if (event) calls.splice(0); // it may come back from the back/forward cache
      }
    } catch {
      // No call, no tag, or no storage.
    }
  };
  addEventListener('pagehide', keep);
  // A snippet of Segment's below takes this for an array of its own: `push` does nothing, but is there.
  const stub: Globals = { calls, status, push: status };
  for (const method of 'init identify reset setConsent event stop on flush'.split(' ')) {
    stub[method] = (...args: unknown[]) => {
      let done: (value: unknown) => void;
      const answer = new Promise((settle) => (done = settle));
      if (/C/.test(method)) said = args[0];
      const call: Kept = [+new Date(), method, args, done!, document.title, location.pathname];
      // As they are now: the page may change them before the script comes.
      if (isRecord(call)) call[2] = args.map(copy);
      if (calls.length < 1e4) calls.push(call);
      if (said == 'denied')
        calls.splice(0, calls.length, ...calls.filter((call) => !isRecord(call)));
      if (said == 'denied' || document.readyState != 'complete')
        keeping = keeping || Promise.resolve().then(keep);
      if (method == 'on') return () => answer.then((off) => (off as () => void)());
      if (method != 'flush') return;
      // Unless the script answers first: it may be blocked, or missing.
      setTimeout(() => done(status()), 1_000);
      return answer;
    };
  }
  page[name] = stub;
})(window as unknown as Globals, 'analytics');
