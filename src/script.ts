import { createTracker } from './analytics.js';
import { readAttributes } from './config/options.js';
import type { Options } from './types.js';

type StubCall = [at: number, method: string, args: unknown[], done: (value: unknown) => void];

const OURS = Symbol.for('analytics-outbox');

const warn = (message: string) => console.warn(`analytics-outbox: ${message}`);

/** Reads the tag it came by, takes the stub's place, and makes up for the calls made so far. */
const install = () => {
  const globals = window as unknown as Record<string, unknown>;
  const { dataset = {} } = (document.currentScript ?? {}) as { dataset?: DOMStringMap };
  const name = dataset.global ?? 'analytics';
  const found = globals[name] as { calls?: StubCall[]; [OURS]?: true } | undefined;
  if (found?.[OURS]) return; // loaded twice, it runs once
  if (found && !Array.isArray(found.calls)) {
    warn(`window.${name} is taken by another script; set data-global to use another name`);
    return;
  }
  const { analytics, replay } = createTracker();
  const api = Object.assign(analytics, { [OURS]: true });
  globals[name] = api;
  const options = readAttributes(dataset, globals);
  const init = (given: unknown) => {
    try {
      analytics.init(given as Options);
    } catch (error) {
      console.error((error as Error).message);
    }
  };
  if (Object.keys(options).length > 0) init(options);
  for (const [at, method, args, done] of found?.calls ?? []) {
    if (method === 'init') init(args[0]);
    else if (method === 'identify' || method === 'event')
      replay[method](at, ...(args as [unknown]));
    else
      done((api as unknown as Record<string, (...args: unknown[]) => unknown>)[method]?.(...args));
  }
};

install();
