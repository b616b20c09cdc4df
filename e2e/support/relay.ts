import type { IncomingMessage } from 'node:http';
import { pathToFileURL } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import type * as RelayEntry from '../../src/relay.js';
import type { Batch } from '../../src/interface/wire.js';
import { DIST_FOLDER } from './dist.js';
import type { Service } from './service.js';
import type { Site } from './site.js';

/** Where the relay stands on the site. */
export const RELAY = '/a';

/** What goes wrong between a page and the relay, for so many requests; without a number, for all. */
export interface RelayFault {
  times?: number;
  /** Only requests with this event, as of a firewall that dislikes it. */
  event?: string;
  /** Answers this in place of asking the relay. */
  status?: number;
  headers?: Record<string, string>;
  /** Never answers. */
  hang?: boolean;
  /** Breaks the connection. */
  reset?: boolean;
  /** Milliseconds to wait. */
  delay?: number;
  /** Asks the relay first, so that the records are stored, and then does the rest. */
  after?: boolean;
}

interface Parts {
  site: Pick<Site, 'url' | 'handle'>;
  service: Service;
  project: string;
  channel: string;
}

export type Relay = Awaited<ReturnType<typeof mountRelay>>;

const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));
const never = new Promise<never>(() => undefined);

/** The built relay on a site's own origin, in front of the service, with a fault switch before it. */
export const mountRelay = async ({ site, service, project, channel }: Parts) => {
  const entry = pathToFileURL(`${DIST_FOLDER}/relay.js`).href;
  const { createRelay } = (await import(entry)) as typeof RelayEntry;
  let asked = 0;
  let faults: RelayFault[] = [];
  const relay = createRelay({
    baseUrl: service.url,
    token: service.token,
    origins: [site.url],
    projects: [project],
    channels: [channel],
    rateLimit: false, // every page of a test has the same address
    onError: () => undefined, // what is told stands in the tests of the relay
  });

  const eventsIn = async (request: Request): Promise<(string | undefined)[]> => {
    const { records = [] } = JSON.parse(await request.clone().text()) as Partial<Batch>;
    return records.map(({ body }) => (body as { event?: string }).event);
  };

  const nextFault = (events: readonly (string | undefined)[]): RelayFault => {
    const fault = faults.find(
      ({ times = Infinity, event }) => times > 0 && (!event || events.includes(event)),
    );
    if (fault?.times) fault.times--;
    return fault ?? {};
  };

  const answer = async (request: Request, incoming: IncomingMessage): Promise<Response> => {
    asked++;
    const events = await eventsIn(request);
    const { status, headers = {}, hang, reset, delay, after } = nextFault(events);
    const answered = after ? await relay(request) : undefined;
    if (delay) await pause(delay);
    if (hang) await never;
    if (reset) {
      incoming.socket.destroy();
      await never;
    }
    if (status) return new Response('{}', { status, headers });
    return answered ?? relay(request);
  };

  site.handle(
    `${RELAY}/`,
    getRequestListener((request, { incoming }) => answer(request, incoming as IncomingMessage), {
      overrideGlobalObjects: false,
    }),
  );

  return {
    /** How many batches have come so far. */
    asked: () => asked,
    /** Sets what goes wrong, in place of what did; none sets it right. */
    faults: (rules: RelayFault[]): void => {
      faults = rules.map((rule) => ({ ...rule }));
    },
  };
};
