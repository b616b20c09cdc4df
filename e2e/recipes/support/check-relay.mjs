import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const STARTS_WITHIN_MS = 60_000;
const ARRIVES_WITHIN_MS = 20_000;
const MAX_BYTES = 1_048_576;

/** Batches of 100 at once: three times what one client may send by default. */
const FLOOD = 30;

/**
 * Sends to a relay what a page sends, and what nobody may; throws where it answers otherwise. Answers with
 * what was seen.
 */
export async function checkRelay(relay) {
  const { origin, reader, secret, limitsClients, outcome = 'delivered' } = relay;
  const isQueued = outcome === 'accepted';
  const seen = [];
  const ask = createAsk(relay);
  const send = (body, headers = {}) =>
    ask('/v1/batch', {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', ...headers },
      body,
    });

  await until(
    STARTS_WITHIN_MS,
    () => relay.isAlive(),
    async () => {
      const { status, text } = await ask('/ready');
      assert.equal(status, 200);
      assert.equal(JSON.parse(text).status, 'ok');
    },
  );
  await reader.clear();

  const records = makeRecords();
  const batch = JSON.stringify({ sent_at: new Date().toISOString(), records });
  const holdsThese = async () => assert.deepEqual(await reader.rows(), rowsOf(records));

  const first = await send(batch);
  const results = records.map(({ id }) => ({
    id,
    outcome,
    status: isQueued ? 0 : 200,
  }));
  assert.deepEqual(JSON.parse(first.text), { results }, 'the first answer');
  assert.equal(first.headers.get('access-control-allow-origin'), origin);
  await until(ARRIVES_WITHIN_MS, () => true, holdsThese);
  seen.push(`${records.length} ${outcome}`);

  const foreign = await send(batch, { origin: 'https://evil.example' });
  assert.equal(foreign.status, 403, 'of a foreign origin');
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
  seen.push('foreign origin 403');

  // As a beacon sends it.
  const again = await send(batch, { 'content-type': 'text/plain' });
  const told = JSON.parse(again.text).results;
  assert.deepEqual(
    told.map(({ id }) => id),
    records.map(({ id }) => id),
    'the answer to a repeat',
  );
  for (const result of told) assert.ok(['delivered', outcome].includes(result.outcome));
  await holdsThese();
  seen.push('repeat once');

  const fresh = makeRecords();
  const other = JSON.stringify({ sent_at: new Date().toISOString(), records: fresh });
  const together = await Promise.all([send(other), send(other), send(other)]);
  for (const { status, text } of together) {
    // With a queue the others may be told to come again, while it is not known that the first one is in.
    if (isQueued && status === 503) continue;
    const outcomes = JSON.parse(text).results.map((one) => one.outcome);
    const allowed = ['delivered', outcome, ...(isQueued ? ['retry'] : [])];
    for (const one of outcomes) assert.ok(allowed.includes(one), `${one}, at once`);
  }
  records.push(...fresh);
  await until(ARRIVES_WITHIN_MS, () => true, holdsThese);
  seen.push('three at once, once');

  const large = await send(batch.padEnd(MAX_BYTES + 1));
  assert.equal(large.status, 413, 'of a body above the limit');
  seen.push('too large 413');

  if (limitsClients) {
    const answers = await Promise.all(
      Array.from({ length: FLOOD }, (_, i) => send(FOREIGN, forge(i))),
    );
    const limited = answers.filter(({ status }) => status === 429);
    assert.ok(limited.length > 0, 'a client that floods under many addresses is not limited');
    assert.ok(Number(limited[0].headers.get('retry-after')) > 0);
    seen.push('flood 429');
  }

  await holdsThese();
  assert.ok(!ask.answers.some((answer) => answer.includes(secret)), 'an answer holds the token');
  seen.push(`no token in ${ask.answers.length} answers`);
  return seen;
}

/** Asks, and keeps all that came back. */
function createAsk({ url }) {
  const ask = async (path, init) => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    ask.answers.push(JSON.stringify([...response.headers]) + text);
    return { status: response.status, headers: response.headers, text };
  };
  ask.answers = [];
  return ask;
}

/** Not as the service makes ids for records that have none. */
const makeId = () => randomUUID().replaceAll('-', '');

function makeRecords() {
  const timestamp = new Date().toISOString();
  const user = { project: 'shop', user_id: `user_${randomUUID()}` };
  const event = (name) => ({
    id: makeId(),
    type: 'event',
    body: { ...user, channel: 'web', event: name, tags: { path: '/ü', count: 2 }, timestamp },
  });
  const identify = {
    id: makeId(),
    type: 'identify',
    body: { ...user, properties: { plan: 'pro' } },
  };
  return [identify, event('Signed Up'), event('Page Viewed'), event('🎉')];
}

const rowsOf = (records) =>
  records.map(({ id, body }) => ({ id, body })).sort((a, b) => (a.id < b.id ? -1 : 1));

/** Counts for the limit, and leaves no row: the project is not listed. */
const FOREIGN = JSON.stringify({
  sent_at: new Date().toISOString(),
  records: Array.from({ length: 100 }, (_, i) => ({
    id: `flood_${i}`,
    type: 'identify',
    body: { project: 'foreign', user_id: 'u', properties: {} },
  })),
});

/** Headers in which a client might claim to be another. */
const forge = (i) => {
  const address = `203.0.113.${i}`;
  return { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` };
};

/** Tries again until it does not throw, while there is time and hope. */
async function until(ms, isHope, check) {
  const end = performance.now() + ms;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end || !isHope()) throw error;
      await delay(50);
    }
  }
}
