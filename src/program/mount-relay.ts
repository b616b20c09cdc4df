import { createRelay } from '../relay.js';
import { createNodeFetch } from '../relay-node.js';
import type { Mounted, MountParts } from './mount.js';
import { withoutPassword } from './open-store.js';
import { createServiceClient } from './service-client.js';
import type { ServiceSettings, Settings } from './settings.js';

/** Makes a relay: it keeps nothing, and passes records on to a service while their sender waits. */
export const mountRelay = (
  settings: Settings,
  service: ServiceSettings,
  { clientAddress, hooks }: MountParts,
): Mounted => {
  const { projects, channels, rateLimit, ceiling, ignoreAddresses, gpc } = settings;
  const { baseUrl, token, timeout, idempotencyKey } = service;
  const { fetch, concurrency, setToken } = createServiceClient(service, createNodeFetch());
  const relay = createRelay({
    ...{ baseUrl, token, timeout, idempotencyKey, fetch, concurrency, ...hooks },
    ...{ projects, channels, rateLimit, ceiling, clientAddress, ignoreAddresses, gpc },
    // With SERVICE_URL the origins are required.
    origins: settings.origins!,
  });
  return {
    target: `passes on to ${withoutPassword(baseUrl)}`,
    answer: relay,
    health: relay.health,
    setServiceToken: setToken,
  };
};
