import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { getRequestListener } from '@hono/node-server';
import { httpUrl } from '../server/http-url.js';
import { createNodeFetch } from '../../src/relay-node.js';
import { createRelay } from '../../src/relay.js';
import { DEMO_PROJECT } from './demo-project.js';

/** Where the relay is mounted on the page's own origin. */
export const RELAY_PATH = '/a';

/** What the relay lets through: events of any other channel stay in the page's outbox. */
const RELAY_CHANNELS = ['web', 'growth', 'billing'];

interface Parts {
  /** Port of the page, whose origin is the relay's own. */
  port: number;
  host: string;
  servicePort: number;
  token: string;
}

/** All names under which a browser may have opened the page. */
const originsOf = ({ host, port }: Parts): string[] => {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const names = ['localhost', '127.0.0.1', '::1', host, ...addresses.map(({ address }) => address)];
  return [...new Set(names)]
    .map((name) => httpUrl(name, port))
    .flatMap((url) => (URL.canParse(url) ? new URL(url).origin : []));
};

/** The relay as a website would run it: on its own origin, with the token that the page does not have. */
export const createDemoRelay = (
  parts: Parts,
): ((request: IncomingMessage, response: ServerResponse) => void) => {
  const { servicePort, token, host } = parts;
  const relay = createRelay({
    baseUrl: httpUrl(host, servicePort),
    token,
    origins: originsOf(parts),
    projects: [DEMO_PROJECT],
    channels: RELAY_CHANNELS,
    fetch: createNodeFetch(),
    rateLimit: false, // the only visitor is who tries it
  });
  const listen = getRequestListener(relay, { overrideGlobalObjects: false });
  return (request, response) => void listen(request, response);
};
