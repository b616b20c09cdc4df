import { createPostHog } from './posthog.js';
import type { PostHog } from './posthog-types.js';
import type { ConsentTarget } from './target.js';
import { unsupported } from './unsupported.js';

type Method = (...args: unknown[]) => unknown;
type Call = [method: string, ...args: unknown[]];

/**
 * Puts PostHog's calls in the place of its snippet, and makes those that wait in it, in their order. A method without a
 * counterpart is told of as a wrong call. Where the page has no snippet, it makes the global alone.
 * @throws TypeError where the global is something else than the snippet's list.
 * @example takeOverPostHog(analytics);
 */
export const takeOverPostHog = (analytics: ConsentTarget, global = 'posthog'): PostHog => {
  const page = globalThis as unknown as Record<string, Call[] & Record<string, unknown>>;
  const stub = (page[global] ??= [] as never);
  // First, since it throws where the global is no list.
  const made = stub.splice(0);
  const posthog = createPostHog(analytics) as unknown as Record<string, Method>;
  const run = ([name, ...args]: Call): unknown =>
    posthog[name] ? posthog[name](...args) : analytics.event(name, { toJSON: unsupported(name) });
  for (const name of Object.keys({ ...stub, ...posthog }))
    if (posthog[name] ?? typeof stub[name] === 'function')
      stub[name] = (...args: unknown[]) => run([name, ...args]);
  // PostHog's own script does nothing then.
  Object.assign(stub, { __loaded: true, push: run });
  made.forEach(run);
  return stub as unknown as PostHog;
};
