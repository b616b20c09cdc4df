import type { Say } from './say.js';

const EVENT = "write `event('Name', { … })`";

/** Methods of other tools, each with what to write here. */
const INSTEAD: Readonly<Record<string, string>> = {
  track: EVENT,
  trackEvent: EVENT,
  logEvent: EVENT,
  capture: EVENT,
  page: EVENT,
  screen: EVENT,
  send: EVENT,
  log: EVENT,
  group: "write `event('Group Joined', { … })`",
  alias: 'call `identify` with the lasting id',
  people: 'write `identify(id, { … })`',
  setUserId: 'write `identify(id)`',
  register: 'give the option `context`',
  set: 'give the option `context`',
  load: 'write `init({ … })`',
  opt_out_capturing: "write `setConsent('denied')`",
  optOut: "write `setConsent('denied')`",
  optIn: "write `setConsent('granted')`",
  consent: "write `setConsent('granted')`",
  off: 'call what `on` returned',
  ready: 'call the methods at once, since calls are kept',
  user: 'read `status().userId`',
};

/** Segment's snippet below our stub takes the stub for its own queue, and writes its methods over ours. */
export const isSegments = (analytics: object): boolean => 'SNIPPET_VERSION' in analytics;

/**
 * Tells what to write in place of methods that only other tools have. They stay undefined, as they are without the
 * developers' file.
 * @param name the global: such a call in a script of the page itself may have failed before this file came
 */
export const watchMethods = (analytics: object, say: Say, name?: string): void => {
  const tell = (method: string) => say(`there is no method \`${method}\`: ${INSTEAD[method]}`);
  // Behind its own methods, so that a page may well add one of these.
  Object.setPrototypeOf(
    analytics,
    new Proxy({} as Record<string, unknown>, {
      get: (target, method: string) =>
        Object.hasOwn(INSTEAD, method) ? void tell(method) : target[method],
    }),
  );
  if (name)
    for (const { text } of document.scripts)
      for (const method in INSTEAD) if (text.includes(`${name}.${method}(`)) tell(method);
};
