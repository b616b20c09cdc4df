// Next.js. Put it at app/a/[...path]/route.ts
import { createRelay, type Relay } from 'analytics-outbox/relay';
import { createNodeFetch } from 'analytics-outbox/relay/node';

let relay: Relay | undefined;

/** Made at the first request: `next build` runs this file, too, and has no settings. */
const getRelay = (): Relay =>
  (relay ??= createRelay({
    baseUrl: process.env.SERVICE_URL!,
    token: process.env.SERVICE_TOKEN!,
    origins: [process.env.SITE_ORIGIN!],
    projects: ['shop'],
    channels: ['web'],
    fetch: createNodeFetch(),
    // A route handler cannot see the connection. Where your platform or proxy writes the address into
    // a header, name that header in place of `rateLimit: false`, which limits no client.
    // clientAddress: (request) => request.headers.get('x-real-ip') ?? undefined,
    rateLimit: false,
    onError: ({ kind, message }) => console.error('relay:', kind, message),
  }));

const handle = (request: Request): Promise<Response> => getRelay()(request);

export { handle as GET, handle as OPTIONS, handle as POST };
