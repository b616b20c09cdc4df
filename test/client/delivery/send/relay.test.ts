import { afterEach, expect, it, vi } from 'vitest';
import { createRelaySend } from '../../../../src/client/delivery/send/relay.js';
import type { Settings } from '../../../../src/client/options.js';

const RECORDS = ['a', 'b', 'c'].map((id) => ({
  ...{ id, type: 'event' as const, body: `{"event":"${id}"}`, at: 5, attempts: 0 },
}));
const how = () => ({ keepalive: true, controller: new AbortController(), isSilent: false });

afterEach(() => vi.unstubAllGlobals());

const open = (answer: () => Response, now = () => 1_000) => {
  const fetch = vi.fn<(url: string, init: RequestInit) => Promise<Response>>(async () => answer());
  vi.stubGlobal('fetch', fetch);
  const settings = { relay: 'https://shop.example/a', timeout: 1_000, now };
  const send = createRelaySend(() => settings as unknown as Settings);
  return { send, fetch };
};

it('sends a batch, and gives each record its own result, whatever their order', async () => {
  const results = [
    { id: 'b', outcome: 'rejected', status: 422 },
    { id: 'a', outcome: 'accepted', status: 202 },
    { id: 'c', outcome: 'retry', status: 503, retry_after: 2 },
  ];
  const { send, fetch } = open(() => Response.json({ results }));
  expect(await send(RECORDS, how())).toMatchObject([
    { outcome: 'delivered' },
    { outcome: 'rejected', status: 422 },
    { outcome: 'retry', retryAfterMs: 2_000 },
  ]);
  const [[url, { body }]] = fetch.mock.calls as [[string, RequestInit]];
  expect(url).toBe('https://shop.example/a/v1/batch');
  expect(JSON.parse(body as string)).toEqual({
    sent_at: '1970-01-01T00:00:01.000Z',
    records: RECORDS.map(({ id }) => ({ id, type: 'event', called_at: 5, body: { event: id } })),
  });
});

it.each([
  ['', 'retry'],
  ['hello', 'blocked'],
])('takes no 200 without results for a delivery: "%s"', async (text, outcome) => {
  const { send } = open(() => new Response(text));
  const attempts = await send(RECORDS, how());
  expect(attempts?.map((attempt) => attempt.outcome)).toEqual([outcome, outcome, outcome]);
});

it('is a beacon as a loaded page goes, of which nobody sees the answer', async () => {
  const { send, fetch } = open(() => Response.json({}));
  vi.stubGlobal('document', { readyState: 'complete' });
  const sendBeacon = vi.fn(() => true);
  vi.stubGlobal('closed', true);
  vi.stubGlobal('navigator', { sendBeacon });
  expect(await send(RECORDS, how())).toBeUndefined();
  expect(sendBeacon).toHaveBeenCalledTimes(1);
  expect(fetch).not.toHaveBeenCalled();
});

it('sends where the site’s clock counts nanoseconds, which no date can hold', async () => {
  const { send, fetch } = open(
    () => Response.json({ results: [] }),
    () => 1.7e18,
  );
  expect(await send(RECORDS, how())).toHaveLength(3);
  expect(fetch).toHaveBeenCalledTimes(1);
});
