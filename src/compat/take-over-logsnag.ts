import { drain } from './drain.js';
import { createLogSnag } from './logsnag.js';
import type { LogSnag } from './logsnag.js';
import { refuse } from './refuse.js';
import type { Target } from './target.js';

type Call = [method: string, ...args: unknown[]];
type Methods = Record<string, ((...args: unknown[]) => unknown) | undefined>;

/**
 * Puts these calls in the place of LogSnag's script for pages, whose function is `window.ls`, and makes the calls
 * that wait in `window.lsq`, in their order.
 * @example takeOverLogSnag(analytics);
 */
export const takeOverLogSnag = (analytics: Target): LogSnag => {
  const logsnag = createLogSnag(analytics);
  const page = globalThis as { ls?: unknown; lsq?: Call[] };
  /** The options of the instance count. */
  const setConfig = (): void => undefined;
  const methods = { setConfig, ...logsnag } as unknown as Methods;
  const run = ([method, ...args]: Call): void => {
    const known = methods[method];
    if (known) known(...args);
    else refuse(analytics, method);
  };
  page.ls = (...call: Call) => run(call);
  drain((page.lsq ??= []), run);
  return logsnag;
};
