import { messageOf } from '../../interface/errors.js';
import type { Analytics } from '../types.js';

type Methods = Record<string, (...args: unknown[]) => unknown>;
type StubCall = [at: number, method: string, args: unknown[], done: (value: unknown) => void];

const OURS = Symbol.for('analytics-outbox');

/** A stub keeps its calls; an instance is marked as ours. */
interface Found extends Record<string, unknown> {
  calls?: StubCall[];
  [OURS]?: boolean;
}

interface Parts {
  createTracker: () => { analytics: Analytics; replay: object };
  /** Options from the tag's `data-` attributes, and the page's globals that they name. */
  readOptions: (
    dataset: Record<string, string | undefined>,
    globals: Record<string, unknown>,
  ) => object;
}

/** Reads the tag that loaded this script, takes the stub's place, and makes the calls that the stub has kept. */
export const installTag = ({ createTracker, readOptions }: Parts): void => {
  const globals = window as unknown as Record<string, unknown>;
  const { dataset = {} } = (document.currentScript ?? {}) as { dataset?: DOMStringMap };
  // Only a key of its own counts: a script may have given every object more keys.
  const name = (Object.hasOwn(dataset, 'global') && dataset.global) || 'analytics';
  // Only a real global counts: ids of elements are properties of `window`, too.
  const found = Object.hasOwn(globals, name) ? (globals[name] as Found | undefined) : undefined;
  if (found?.[OURS]) return; // loaded twice, it runs once
  const warn = () =>
    console.warn(
      `analytics-outbox: window.${name} is taken by another script; set data-global to use another name`,
    );
  const calls = found ? found.calls : [];
  if (!Array.isArray(calls)) return warn();
  const { analytics, replay } = createTracker();
  const init = (options: unknown) => {
    try {
      analytics.init(options as Parameters<Analytics['init']>[0]);
    } catch (error) {
      console.error(messageOf(error));
    }
  };
  const run = ([at, method, args, done]: StubCall) => {
    if (method === 'init') done(init(args[0]));
    else if (method in replay) done((replay as unknown as Methods)[method]?.(at, ...args));
    else done((analytics as unknown as Methods)[method]?.(...args));
    return 0;
  };
  const isConsent = ([, method]: StubCall) => method === 'setConsent';
  try {
    globals[name] = Object.assign(found ?? {}, analytics, { [OURS]: true });
    // Code that has kept a reference to the stub, or to one of its methods, reaches the tracker through this `push`.
    // An assignment would throw on a page that has frozen `Array.prototype`.
    Object.defineProperty(calls, 'push', { value: run });
  } catch {
    return warn(); // frozen, or read-only
  }
  const made = calls.splice(0);
  // Consent comes before `init`, which may use storage only with consent.
  made.filter(isConsent).forEach(run);
  const options = readOptions(dataset, globals);
  if (Object.keys(options).length > 0) init(options);
  made.filter((call) => !isConsent(call)).forEach(run);
};
