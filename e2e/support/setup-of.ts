import type { Service } from './service.js';
import { CHANNEL, FLUSH_INTERVAL_MS, PROJECT } from './test.js';

/** What a page of the tests gives to `init`, or to the tag, to send straight to the service. */
export const setupOf = ({ url, token }: Pick<Service, 'url' | 'token'>) => ({
  baseUrl: url,
  token,
  project: PROJECT,
  channel: CHANNEL,
  flushInterval: FLUSH_INTERVAL_MS,
});

/** Options of a tag that leaves the set-up to the page's own `init`. */
export const UNSET = {
  baseUrl: undefined,
  token: undefined,
  project: undefined,
  channel: undefined,
  flushInterval: undefined,
};
