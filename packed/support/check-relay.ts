import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { ORIGIN, postBatch, TOKEN, type SentRecord, type Service } from './service.js';
import { until } from './until.js';

const ARRIVES_WITHIN_MS = 60_000;
const MAX_BYTES = 1_048_576;
/** Batches of 100 at once: three times what one client may send by default. */
const FLOOD = 30;

export interface Promises {
  /** It knows who sends, so that one who floods is told to wait. */
  limitsClients?: boolean;
}

interface Relay extends Promises {
  url: string;
  service: Service;
  isAlive: () => boolean;
}

/** Not as the service makes ids for records that have none. */
const makeId = () => randomUUID().replaceAll('-', '');

const makeRecords = (): SentRecord[] => {
  const timestamp = new Date().toISOString();
  const user = { project: 'shop', user_id: `user_${makeId()}` };
  const event = (name: string): SentRecord => ({
    ...{ id: makeId(), type: 'event' },
    body: { ...user, channel: 'web', event: name, tags: { path: '/ü', count: 2 }, timestamp },
  });
  const identify = { ...user, properties: { plan: 'pro' } };
  return [
    { id: makeId(), type: 'identify', body: identify },
    ...['Signed Up', 'Page Viewed', '🎉'].map(event),
  ];
};

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** What the service has, as it was sent. */
const rowsIn = async (service: Service) => {
  const events = (await service.events()).map(
    ({ idempotency_key: id, project, channel, event, user_id, tags, timestamp }) => ({
      ...{ id, type: 'event', body: { project, channel, event, user_id, tags, timestamp } },
    }),
  );
  const identifies = (await service.identifies()).map(
    ({ idempotency_key: id, project, user_id, properties }) => ({
      ...{ id, type: 'identify', body: { project, user_id, properties } },
    }),
  );
  return [...identifies, ...events].sort(byId);
};

/** Counts for the limit, and leaves no row: the project is not listed. */
const FOREIGN = JSON.stringify({
  sent_at: new Date().toISOString(),
  records: Array.from({ length: 100 }, (_, i) => ({
    ...{ id: `flood_${i}`, type: 'identify' },
    body: { project: 'foreign', user_id: 'u', properties: {} },
  })),
});

/** Headers in which a client might claim to be another. */
const forge = (i: number) => {
  const address = `203.0.113.${i}`;
  return { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` };
};

/** Sends to a relay what a page sends, and what nobody may. */
export const checkRelay = async (relay: Relay): Promise<void> => {
  const { url, service, isAlive, limitsClients } = relay;
  const answers: string[] = [];
  const heard = async (response: Response) => {
    const text = await response.text();
    answers.push(JSON.stringify([...response.headers]) + text);
    return { status: response.status, headers: response.headers, text };
  };
  const send = async (body: string, headers: Record<string, string> = {}) =>
    heard(
      await fetch(`${url}/v1/batch`, {
        method: 'POST',
        headers: { origin: ORIGIN, 'content-type': 'application/json', ...headers },
        body,
      }),
    );
  type Results = { id: string; outcome: string; status: number }[];
  const resultsOf = (text: string) => (JSON.parse(text) as { results: Results }).results;

  const isReady = () =>
    fetch(`${url}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(async () => !isAlive() || (await isReady()), 'it to be ready');
  expect(isAlive()).toBe(true);
  await service.clear(); // what it is asked while it starts is no record of ours

  const records = makeRecords();
  const batch = JSON.stringify({ sent_at: new Date().toISOString(), records });
  const holdsThese = () =>
    vi.waitFor(async () => expect(await rowsIn(service)).toEqual([...records].sort(byId)), {
      timeout: ARRIVES_WITHIN_MS,
    });

  const first = await heard(await postBatch(url, records));
  const delivered = { outcome: 'delivered', status: 200 };
  expect(resultsOf(first.text)).toEqual(records.map(({ id }) => ({ id, ...delivered })));
  expect(first.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  await holdsThese();

  const foreign = await send(batch, { origin: 'https://evil.example' });
  expect(foreign.status).toBe(403);
  expect(foreign.headers.get('access-control-allow-origin')).toBeNull();

  // A repeat, as a beacon sends it.
  const again = resultsOf((await send(batch, { 'content-type': 'text/plain' })).text);
  expect(again.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
  for (const result of again) expect(result.outcome).toBe('delivered');

  const fresh = makeRecords();
  const other = JSON.stringify({ sent_at: new Date().toISOString(), records: fresh });
  for (const answer of await Promise.all([send(other), send(other), send(other)])) {
    // With a queue the others may be told to come again, while it is not known that the first one is in.
    for (const result of resultsOf(answer.text)) expect(result.outcome).toBe('delivered');
  }
  records.push(...fresh);
  await holdsThese();

  expect((await send(batch.padEnd(MAX_BYTES + 1))).status).toBe(413);

  if (limitsClients) {
    const flood = Array.from({ length: FLOOD }, (_, i) => send(FOREIGN, forge(i)));
    const limited = (await Promise.all(flood)).filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    expect(Number(limited[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await holdsThese();
  expect(answers.filter((answer) => answer.includes(TOKEN))).toEqual([]);
};
