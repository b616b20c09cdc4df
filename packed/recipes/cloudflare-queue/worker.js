// Cloudflare Worker that accepts durably; wrangler.json is beside it. Run: wrangler deploy
import { createDelivery, createRelay } from 'analytics-outbox/relay';
import {
  createCloudflareQueue,
  createKvSeen,
  createQueueHandler,
} from 'analytics-outbox/relay/cloudflare';

const makeParts = (env) => {
  const toService = {
    baseUrl: env.SERVICE_URL,
    token: env.SERVICE_TOKEN,
    seen: createKvSeen({ namespace: env.SEEN }),
    onError: ({ kind, message }) => console.error('relay:', kind, message),
  };
  const relay = createRelay({
    ...toService,
    queue: createCloudflareQueue(env.RECORDS),
    origins: [env.SITE_ORIGIN],
    projects: ['shop'],
    channels: ['web'],
    // Written by Cloudflare: no client can.
    clientAddress: (request) => request.headers.get('cf-connecting-ip') ?? undefined,
  });
  const delivery = createDelivery(toService);
  return { relay, deliver: createQueueHandler({ delivery, deadLetters: env.DEAD }) };
};

let parts;
const getParts = (env) => (parts ??= makeParts(env));

export default {
  fetch: (request, env) => getParts(env).relay(request),
  queue: (batch, env) => getParts(env).deliver(batch),
};
