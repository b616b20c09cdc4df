/**
 * What a site would build for itself: Express takes batches into BullMQ, whose worker sends each record on, as many at a
 * time as the relay does, by what the relay's program asks with.
 */
import { createRequire } from 'node:module';
import { Agent, fetch } from 'undici';

const require = createRequire(`${process.env.PEERS}/`);
const express = require('express');
const { Queue, Worker } = require('bullmq');
const { REDIS_PORT, SERVICE_URL, DRAINS } = process.env;

const connection = { host: '127.0.0.1', port: Number(REDIS_PORT), maxRetriesPerRequest: null };
const queue = new Queue('records', { connection });
const dispatcher = new Agent({ connections: 32 });

const send = async ({ data: { id, type, body } }) => {
  const response = await fetch(`${SERVICE_URL}/v1/${type}`, {
    dispatcher,
    method: 'POST',
    headers: {
      ...{ authorization: 'Bearer t', 'content-type': 'application/json', 'idempotency-key': id },
    },
    body: JSON.stringify(body),
  });
  await response.text();
  if (!response.ok) throw new Error(`answered ${response.status}`);
};
if (DRAINS) new Worker('records', send, { connection, concurrency: 32 });

const retries = { attempts: 10, backoff: { type: 'exponential', delay: 1_000 } };
const app = express();
app.post('/a/v1/batch', express.json({ limit: '1mb' }), async (request, response) => {
  const { records } = request.body;
  const opts = (id) => ({ jobId: id, removeOnComplete: true, ...retries });
  await queue.addBulk(records.map((data) => ({ name: 'record', data, opts: opts(data.id) })));
  response.json({ results: records.map(({ id }) => ({ id, outcome: 'accepted', status: 0 })) });
});
const server = app.listen(0, '127.0.0.1', () =>
  console.log(`Peer http://127.0.0.1:${server.address().port}`),
);
