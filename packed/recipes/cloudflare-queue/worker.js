// Cloudflare Worker that accepts durably; wrangler.json is beside it. Run: wrangler deploy
import { createDelivery, createRelay } from 'analytics-outbox/relay';

/** Answers nothing: the platform's queue cannot remember ids, so a record that comes again is sent again. */
const createQueue = (binding) => ({
  // Without the text, which would double a message. One may have 128 KB, and all of a call 256 KB.
  put: (records) =>
    binding.sendBatch(records.map(({ text, ...body }) => ({ body }))).then(() => {}),
});

const settle = async (message, result, deadLetters) => {
  const { outcome, status, retry_after = 0 } = await result;
  if (outcome === 'rejected') await deadLetters.send({ record: message.body, status });
  if (outcome === 'rejected' || outcome === 'delivered') return message.ack();
  // The platform's 100 tries take almost four days, which is as long as it keeps a message.
  message.retry({ delaySeconds: Math.min(3_600, Math.max(retry_after, 2 ** message.attempts)) });
};

const makeParts = (env) => {
  const onError = ({ kind, message }) => console.error('relay:', kind, message);
  const lists = { origins: [env.SITE_ORIGIN], projects: ['shop'], channels: ['web'] };
  // Written by Cloudflare: no client can.
  const clientAddress = (request) => request.headers.get('cf-connecting-ip') ?? undefined;
  const toService = { baseUrl: env.SERVICE_URL, token: env.SERVICE_TOKEN, onError };
  const queue = createQueue(env.RECORDS);
  const relay = createRelay({ ...toService, ...lists, clientAddress, queue });
  const delivery = createDelivery(toService);
  return { relay, delivery };
};
let parts;
const getParts = (env) => (parts ??= makeParts(env));

export default {
  fetch: (request, env) => getParts(env).relay(request),
  queue: async ({ messages }, env) => {
    const records = messages.map(({ body }) => ({ ...body, text: JSON.stringify(body.body) }));
    const results = getParts(env).delivery.deliver(records, { until: Date.now() + 60_000 });
    await Promise.all(messages.map((message, i) => settle(message, results[i], env.DEAD)));
  },
};
