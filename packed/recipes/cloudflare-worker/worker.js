// Cloudflare Worker; wrangler.json is beside it. Run: wrangler secret put SERVICE_TOKEN, wrangler deploy
import { createRelay } from 'analytics-outbox/relay';

let relay;

const makeRelay = (env) =>
  createRelay({
    baseUrl: env.SERVICE_URL,
    token: env.SERVICE_TOKEN,
    origins: [env.SITE_ORIGIN],
    projects: ['shop'],
    channels: ['web'],
    // Written by Cloudflare: no client can.
    clientAddress: (request) => request.headers.get('cf-connecting-ip') ?? undefined,
    onError: ({ kind, message }) => console.error('relay:', kind, message),
  });

export default {
  fetch: (request, env) => (relay ??= makeRelay(env))(request),
};
