import { expect, it, vi } from 'vitest';
import { curlOf, REPORT_HOLDS, reportOf } from '../../../src/dev/inspector/copies.js';
import { createLines } from '../../../src/dev/inspector/lines.js';
import type { Status } from '../../../src/client/types.js';
import { createRelay } from '../../../src/relay.js';

it('copies a request that a relay takes', async () => {
  const origin = 'https://shop.example';
  vi.stubGlobal('location', { origin });
  const lines = createLines();
  const body = JSON.stringify({ project: 'shop', channel: 'web', event: "It's paid" });
  const record = { id: 'a1', type: 'event', body, at: 1_800_000_000_000, attempts: 0 } as const;
  lines.tell('record', record);
  const address = `${origin}/a`;
  const [line] = lines.all();
  const text = curlOf(line!, { name: '', address, isRelay: true, resends: true });
  vi.unstubAllGlobals();

  // As a shell would read it.
  const words = [...text.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word]) =>
    word!.replaceAll(`'\\''`, "'"),
  );
  const [url, ...options] = words;
  const data = options.pop()!;
  const headers = options.map((header) => header.split(': ', 2) as [string, string]);
  const sent: unknown[] = [];
  const relay = createRelay({
    ...{ origins: [origin], projects: ['shop'], channels: ['web'], rateLimit: false },
    ...{ baseUrl: 'https://in.example.com', token: 't' },
    fetch: async (_, { body, headers }) => {
      sent.push({ id: headers['idempotency-key'], body: JSON.parse(body) as unknown });
      return new Response('{"success":true}');
    },
  });
  const answer = await relay(new Request(url!, { method: 'POST', headers, body: data }));
  expect(await answer.json()).toMatchObject({ results: [{ id: 'a1', outcome: 'delivered' }] });
  expect(sent).toMatchObject([{ id: 'a1', body: JSON.parse(body) }]);
});

it('puts no word of a refusal into a report, however many lines it has', () => {
  vi.stubGlobal('navigator', { userAgent: 'a browser' });
  const lines = createLines();
  const record = { id: '1', type: 'event', body: '{"event":"Paid"}', at: 1, attempts: 1 };
  const answer = JSON.stringify({ code: 400, message: 'ada@example.com is unknown' }, undefined, 2);
  const message = `https://in.example.com/v1/event: 400 ${answer}`;
  lines.tell('drop', { reason: 'rejected', message, record });
  const status = { userId: 'ada', dropped: { rejected: 1 } } as Status;
  const report = reportOf({
    ...{ status, options: () => [], destination: undefined, lines: lines.all() },
  });
  vi.unstubAllGlobals();
  expect(REPORT_HOLDS).toContain('no token, address, name, user or content');
  expect(report).not.toMatch(/example|ada|Paid/);
  expect(report).toMatch(/^- event, attempts 1 \(\): rejected$/m);
});
