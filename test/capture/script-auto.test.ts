// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/" }
import { expect, it, vi } from 'vitest';

it('the first view belongs to whom the page identified before the script had come', async () => {
  localStorage.setItem('analytics-outbox https://in.example.com shop user', 'A');
  const bodies: { event?: string; user_id?: string }[] = [];
  vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
    bodies.push(JSON.parse(body) as object);
    return Response.json({ success: true });
  });
  const tag = document.createElement('script');
  Object.assign(tag.dataset, {
    ...{ baseUrl: 'https://in.example.com', token: 't', project: 'shop', channel: 'web' },
    auto: 'pageviews automated local',
  });
  document.head.append(tag);
  const at = Date.now();
  // What the stub keeps on a computer that others use, too.
  vi.stubGlobal('analytics', {
    calls: [
      [at, 'reset', []],
      [at, 'identify', ['B']],
    ],
  });
  await import('../../src/script-auto.js');
  await vi.waitUntil(() => bodies.some(({ event }) => event));
  expect(bodies.map(({ event, user_id }) => [event, user_id])).toEqual([
    [undefined, 'B'],
    ['Page Viewed', 'B'],
  ]);
});
