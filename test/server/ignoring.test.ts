import { expect, it, vi } from 'vitest';
import { isNetwork, createNetworks } from '../../src/server/http/networks.js';
import { event as eventRecord } from './support/records.js';
import { bodyOf, resultsOf, setUpRelay } from './support/relay.js';
import { event, runService } from './support/run-service.js';

const OPTIONS = {
  ignoreAddresses: ['192.0.2.0/28', '2001:db8::/48'],
  gpc: 'drop',
  clientAddress: (request: Request) => request.headers.get('x-client') ?? undefined,
} as const;
/** What a request says of its sender, and the outcome of its records. */
const SENDERS: readonly (readonly [headers: Record<string, string>, outcome?: string])[] = [
  [{ 'x-client': '192.0.2.15' }, 'ignored_address'],
  [{ 'x-client': '::ffff:192.0.2.1' }, 'ignored_address'],
  [{ 'x-client': '[2001:db8:0:9::1]:443' }, 'ignored_address'],
  [{ 'x-client': '198.51.100.1', 'sec-gpc': '1' }, 'ignored_gpc'],
  [{ 'x-client': '192.0.2.1', 'sec-gpc': '1' }, 'ignored_address'],
  [{ 'x-client': '192.0.2.16' }],
  [{ 'x-client': '2001:db8:1::1' }],
  [{ 'x-client': 'session-1', 'sec-gpc': '0' }],
  [{}],
];
const kept = SENDERS.filter(([, outcome]) => !outcome).length;
const ignored = SENDERS.flatMap(([, outcome]) => outcome ?? []);
const outcomesIn = (metrics: readonly (readonly [string, number, string])[]) =>
  metrics.filter(([name, , labels]) => name === 'records' && labels.includes('ignored'));

it.each(['/v1/event', '/v1/batch', '/a/v1/event', '/a/v1/batch'])(
  'stores nothing of ignored senders at %s, and counts them',
  async (path) => {
    const origins = ['https://shop.example'];
    const { post, store, metrics } = runService({ ...OPTIONS, relayPath: '/a', origins });
    const isBatch = path.endsWith('batch');
    for (const [index, [headers, outcome]] of SENDERS.entries()) {
      const record = { id: `${index}`, type: 'event', body: event };
      const body = isBatch ? { sent_at: new Date().toISOString(), records: [record] } : event;
      const response = await post(path, body, { origin: origins[0]!, ...headers });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject(
        isBatch
          ? { results: [{ id: `${index}`, outcome: outcome ? 'accepted' : 'delivered' }] }
          : { message: `Event ${outcome ? 'accepted' : 'stored'}` },
      );
    }
    expect(await store.counts()).toEqual([{ project: 'p', type: 'event', rows: kept }]);
    expect(outcomesIn(metrics)).toEqual(ignored.map((name) => ['records', 1, `in ${name}`]));
  },
);

it('passes nothing of ignored senders on', async () => {
  const { batch, service, metrics } = setUpRelay(OPTIONS);
  for (const [index, [headers]] of SENDERS.entries())
    await resultsOf(batch([eventRecord(`${index}`)], headers));
  expect(service.got).toHaveLength(kept);
  expect(metrics.filter((line) => line.includes('ignored'))).toEqual(
    ignored.map((name) => `records 1 in ${name}`),
  );
});

it('keeps nothing of what an ignored sender sends wrongly, and has it wait for no database', async () => {
  const write = vi.fn(() => new Promise<never>(() => {}));
  write.mockRejectedValueOnce(new Error('away'));
  const { post, service, refused, store } = runService({
    ...OPTIONS,
    store: { ...runService().store, write, close: async () => {} },
  });
  const own = { 'x-client': '192.0.2.1' };
  expect((await post('/v1/event', event)).status).toBe(503);
  // One write is tried, which hangs, and all others have to wait.
  void post('/v1/event', event);
  await vi.waitFor(() => expect(write).toHaveBeenCalledTimes(2));
  expect((await post('/v1/event', event)).status).toBe(503);
  expect((await post('/v1/event', event, own)).status).toBe(200);
  expect((await post('/v1/event', '{', own)).status).toBe(400);
  expect((await post('/v1/event', event, { ...own, authorization: 'Bearer wrong' })).status).toBe(
    401,
  );
  expect((await post('/v1/event', { project: 1 }, own)).status).toBe(200);
  expect(service.setup().problem).toMatchObject({
    message: expect.stringContaining('IGNORE_ADDRESSES'),
    step: 'stored',
  });
  expect(await store.countRefused()).toBe(0);
  expect(await refused()).toEqual([]);
});

it('charges ignored senders as all others: the header is theirs to write', async () => {
  const { post } = runService({ ...OPTIONS, rateLimit: { perSecond: 0.001, burst: 2 } });
  const statuses: number[] = [];
  for (let n = 0; n < 3; n++) {
    const headers = { 'x-client': '198.51.100.1', 'sec-gpc': '1' };
    statuses.push((await post('/v1/event', event, headers)).status);
  }
  expect(statuses).toEqual([200, 200, 429]);
});

it('keeps what sends Global Privacy Control unless it is told otherwise', async () => {
  const response = await runService().post('/v1/event', event, { 'sec-gpc': '1' });
  expect(await bodyOf(response)).toEqual([200, { success: true, message: 'Event stored' }]);
});

it.each([
  ['10.0.0.0/8', ['10.255.0.1', '::ffff:10.0.0.1'], ['11.0.0.0', '::10.0.0.1', 'session', '']],
  ['0.0.0.0/0', ['192.0.2.1'], ['::1']],
  ['::1', ['::1', '0:0:0:0:0:0:0:1'], ['::2', '0.0.0.1']],
  ['2001:db8::/33', ['2001:db8:7fff::1'], ['2001:db8:8000::1']],
  ['192.0.2.7', ['192.0.2.7', '192.0.2.7:80'], ['192.0.2.6']],
])('knows the addresses of %s', (network, inside, outside) => {
  expect(isNetwork(network)).toBe(true);
  const has = createNetworks(['203.0.113.0/24', network]);
  expect(inside.filter((address) => !has(address))).toEqual([]);
  expect(outside.filter(has)).toEqual([]);
});

it.each(['', 'a', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/9', '10.0.0', '::/129', '::/-1', 8])(
  'takes %s for no network',
  (text) => expect(isNetwork(text)).toBe(false),
);

it.each<[object, RegExp]>([
  [{ ignoreAddresses: ['192.0.2.0/40'] }, /`ignoreAddresses` must be a list of addresses/],
  [{ ignoreAddresses: ['192.0.2.1'], rateLimit: false }, /`ignoreAddresses` needs `clientAddress`/],
  [{ gpc: 'yes' }, /`gpc` must be "keep" or "drop"/],
])('says what is wrong with the options %j', (options, words) => {
  const given = { ...options, clientAddress: 'rateLimit' in options ? undefined : () => '' };
  expect(() => runService(given)).toThrow(words);
  expect(() => setUpRelay(given)).toThrow(words);
});
