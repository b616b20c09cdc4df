import type { Service } from './service.js';
import { CHANNEL, PROJECT } from './test.js';

/** What a page of the tests gives to `init`, or to the tag, to send straight to the service. */
export const setupOf = ({ url, token }: Pick<Service, 'url' | 'token'>) => ({
  baseUrl: url,
  token,
  project: PROJECT,
  channel: CHANNEL,
});
