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
  group: "write `event('Group Joined', { … })`",
  alias: 'call `identify` with the lasting id',
  people: 'write `identify(id, { … })`',
  setUserId: 'write `identify(id)`',
  register: 'give the option `context`',
  load: 'write `init({ … })`',
  opt_out_capturing: "write `setConsent('denied')`",
  optOut: "write `setConsent('denied')`",
  ready: 'call the methods at once, since calls are kept',
  user: 'read `status().userId`',
};

/** Segment's snippet below our stub takes the stub for its own queue, and writes its methods over ours. */
export const isSegments = (analytics: object): boolean => 'SNIPPET_VERSION' in analytics;

/**
 * Tells what to write in place of methods that only other tools have. They stay undefined, as they are without the
 * developers' file.
 */
export const watchMethods = (analytics: object, say: Say): void => {
  for (const [name, instead] of Object.entries(INSTEAD)) {
    if (name in analytics) continue;
    Object.defineProperty(analytics, name, {
      configurable: true,
      get: () => void say(`there is no method \`${name}\`: ${instead}`),
      // A page may well add a method of its own.
      set: (value) => {
        delete (analytics as Record<string, unknown>)[name];
        (analytics as Record<string, unknown>)[name] = value;
      },
    });
  }
};
