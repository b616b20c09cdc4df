import { expect, it, onTestFinished, vi } from 'vitest';
import { createRelay } from '../src/relay.js';
import type { ServiceFetch } from '../src/server/deliver/fetch.js';

const FOLDER = new URL('../e2e/fixtures/services/', import.meta.url);

it('a relay for LogSnag sends events to its path, with its time, and leaves users as they are', async () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  const sent: { url: string; token: string | null; body: unknown }[] = [];
  vi.stubGlobal('fetch', async (url: string, request: RequestInit) => {
    const token = new Headers(request.headers).get('authorization');
    sent.push({ url, token, body: JSON.parse(request.body as string) });
    return Response.json({ project: 'shop' });
  });
  const { toLogSnag } = (await import(`${FOLDER.href}logsnag.mjs`)) as {
    toLogSnag: ServiceFetch;
  };
  const relay = createRelay({
    ...{ baseUrl: 'https://api.logsnag.com', token: 't', fetch: toLogSnag },
    ...{ origins: ['https://shop.example'], projects: ['shop'], channels: ['web'] },
    rateLimit: false,
  });
  const event = { project: 'shop', channel: 'web', event: 'Paid', user_id: 'u', tags: { a: 1 } };
  const user = { project: 'shop', user_id: 'u', properties: { plan: 'pro' } };
  const timestamp = '2026-03-01T12:00:00.900Z';
  const records = [
    { id: '1', type: 'identify', body: user },
    { id: '2', type: 'event', body: { ...event, timestamp } },
  ];
  const answer = await relay(
    new Request('https://shop.example/a/v1/batch', {
      method: 'POST',
      headers: { origin: 'https://shop.example', 'content-type': 'application/json' },
      body: JSON.stringify({ sent_at: timestamp, records }),
    }),
  );
  const { results } = (await answer.json()) as { results: { outcome: string }[] };
  expect(results.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
  expect(sent).toEqual([
    { url: 'https://api.logsnag.com/v1/identify', token: 'Bearer t', body: user },
    {
      url: 'https://api.logsnag.com/v1/log',
      token: 'Bearer t',
      body: { ...event, timestamp: Date.parse('2026-03-01T12:00:00Z') / 1000 },
    },
  ]);
});
