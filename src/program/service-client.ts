import type { Rate } from '../relay.js';
import type { ServiceFetch } from '../relay-node.js';
import type { ServiceSettings } from './settings.js';

/** Settles in turn, so many times a second. */
const createPace = ({ perSecond, burst }: Rate) => {
  const everyMs = 1_000 / perSecond;
  /** When the next one would be due if none had been spared before. */
  let due = -Infinity;
  return async (): Promise<void> => {
    const now = performance.now();
    due = Math.max(due, now - burst * everyMs) + everyMs;
    if (due > now) await new Promise((resolve) => setTimeout(resolve, due - now));
  };
};

/** How the program asks the service: with the token as it is now, and no faster than it may. */
export const createServiceClient = (
  { rate, timeout = 10_000, concurrency = 32, ...settings }: ServiceSettings,
  fetch: ServiceFetch,
) => {
  let { token } = settings;
  const pace = rate ? createPace(rate) : undefined;
  const ask: ServiceFetch = async (url, request) => {
    await pace?.();
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    return fetch(url, { ...request, headers });
  };
  return {
    fetch: ask,
    /** More would wait for their turn for longer than a quarter of the time that they have. */
    concurrency: rate
      ? Math.min(concurrency, Math.ceil((rate.perSecond * timeout) / 4_000))
      : concurrency,
    /** All requests from now on have this token. */
    setToken: (given: string): void => void (token = given),
  };
};
