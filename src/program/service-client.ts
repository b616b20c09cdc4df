import type { Rate } from '../relay.js';
import { createNodeFetch, type ServiceFetch } from '../relay-node.js';
import type { ServiceSettings } from './settings.js';

/** Returns a function whose calls settle in turn, at this rate. */
const createPace = ({ perSecond, burst }: Rate) => {
  const everyMs = 1_000 / perSecond;
  /** When the next call would settle if there were no burst. */
  let due = -Infinity;
  return async (): Promise<void> => {
    const now = performance.now();
    due = Math.max(due, now - burst * everyMs) + everyMs;
    if (due > now) await new Promise((resolve) => setTimeout(resolve, due - now));
  };
};

/** Sends requests to the service, with the token as it is now, and at most at the rate that is set. */
export const createServiceClient = ({
  rate,
  timeout = 10_000,
  concurrency = 32,
  ...settings
}: ServiceSettings) => {
  let { token } = settings;
  const fetch = createNodeFetch();
  const pace = rate ? createPace(rate) : undefined;
  const ask: ServiceFetch = async (url, request) => {
    await pace?.();
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    return fetch(url, { ...request, headers });
  };
  return {
    /** The options of the server that sends. */
    options: {
      ...{ ...settings, timeout, fetch: ask },
      // More requests would wait for their turn for longer than a quarter of their timeout.
      concurrency: rate
        ? Math.min(concurrency, Math.ceil((rate.perSecond * timeout) / 4_000))
        : concurrency,
    },
    /** All requests from now on have this token. */
    setToken: (given: string): void => void (token = given),
  };
};
