import { createConsumer, createDelivery, createRelay, type Undelivered } from '../relay.js';
import { createNodeFetch } from '../relay-node.js';
import type { Log } from './log.js';
import type { Mounted, MountParts } from './mount.js';
import { withoutPassword } from './open-store.js';
import { createServiceClient } from './service-client.js';
import type { ServiceSettings, Settings } from './settings.js';

/** Makes a relay: it passes records on to a service, while their sender waits or from a queue. */
export const mountRelay = (
  settings: Settings,
  service: ServiceSettings,
  { log, queue, clientAddress, hooks }: MountParts & { log: Log },
): Mounted => {
  const { projects, channels, rateLimit, ceiling, ignoreAddresses, gpc } = settings;
  const { baseUrl, token, timeout, idempotencyKey, maxAge } = service;
  const client = createServiceClient(service, createNodeFetch());
  const { fetch, concurrency } = client;
  const toService = { baseUrl, token, timeout, idempotencyKey, fetch, concurrency, ...hooks };
  const consumer =
    queue &&
    createConsumer({
      ...{ queue, maxAge, ...hooks },
      delivery: createDelivery(toService),
      onUndelivered: ({ record, reason, status }: Undelivered) =>
        log.error(`dead letter: ${record.type} ${record.id} ${reason} ${status}`),
    });
  const relay = createRelay({
    ...{ ...toService, projects, channels, rateLimit, ceiling, clientAddress, queue, consumer },
    ...{ ignoreAddresses, gpc },
    // With SERVICE_URL the origins are required.
    origins: settings.origins!,
    secret: token,
  });
  return {
    target: `passes on to ${withoutPassword(baseUrl)}`,
    answer: relay,
    health: relay.health,
    consumer,
    setServiceToken: client.setToken,
  };
};
