import { drain } from './drain.js';
import { createPostHog } from './posthog.js';
import type { PostHog } from './posthog.js';
import type { ConsentTarget } from './target.js';

type Call = [method: string, ...args: unknown[]];
/** A list of calls, with a method for each kind, and in older ones another such list. */
type Snippet = Call[] & Record<string, unknown> & { people?: Call[] };

/**
 * Puts PostHog's calls in the place of its snippet, and makes those that wait in it, in their order. A method without a
 * counterpart is told of as a wrong call. Where the page has no snippet, it makes the global alone.
 * @throws TypeError where the global is something else than the snippet's list.
 * @example takeOverPostHog(analytics);
 */
export const takeOverPostHog = (analytics: ConsentTarget, global = 'posthog'): PostHog => {
  const page = globalThis as unknown as Record<string, Snippet>;
  const stub = (page[global] ??= [] as never);
  const { people, ...posthog } = createPostHog(analytics);
  const { push } = posthog;
  drain(stub, push);
  // Behind the calls that may say who the person is.
  const pushPeople = ([name, ...args]: Call) =>
    (people as unknown as Record<string, ((...args: unknown[]) => void) | undefined>)[name]?.(
      ...args,
    );
  drain(Object.assign((stub.people ??= []), people), pushPeople);
  // Those of the snippet that nobody documents.
  for (const name of Object.keys(stub))
    if (typeof stub[name] === 'function')
      stub[name] = (...args: unknown[]) => push([name, ...args]);
  // PostHog's own script does nothing then.
  Object.assign(stub, posthog, { __loaded: true });
  return stub as unknown as PostHog;
};
