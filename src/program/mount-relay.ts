import { createRelay } from '../relay.js';
import type { Mounted, MountParts } from './mount.js';
import { withoutPassword } from './open-store.js';
import { createServiceClient } from './service-client.js';
import type { ServiceSettings, Settings } from './settings.js';

/** Makes a relay: it keeps nothing, and passes records on to a service while their sender waits. */
export const mountRelay = (
  settings: Settings,
  service: ServiceSettings,
  { options }: MountParts,
): Mounted => {
  const client = createServiceClient(service);
  // No row is kept here, so none has an age.
  const { maxAge: _, ...delivery } = client.options;
  // With SERVICE_URL the origins are required.
  const relay = createRelay({ ...options, ...delivery, origins: settings.origins! });
  return {
    target: `passes on to ${withoutPassword(service.baseUrl)}`,
    answer: relay,
    health: relay.health,
    setServiceToken: client.setToken,
  };
};
