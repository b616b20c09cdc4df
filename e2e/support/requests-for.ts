import type { LoggedRequest } from '../../demo/server/faults.js';
import type { Service } from './service.js';

/** What came to the service for one event, in order. */
export const requestsFor = async (service: Service, event: string): Promise<LoggedRequest[]> =>
  (await service.requests()).filter(({ body }) => (body as { event?: string }).event === event);
