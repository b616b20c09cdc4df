import { afterEach, expect, it, vi } from 'vitest';
import { createFeed } from '../../../src/service/rows/page/state/feed.js';

afterEach(() => vi.unstubAllGlobals());

const eventOf = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const rowOf = (seq: number) => {
  const received_at = new Date().toISOString();
  return eventOf('row', { seq, id: `r${seq}`, type: 'event', project: 'p', received_at, body: {} });
};

it('has no line while the page is hidden, unless it is locked', async () => {
  let answers = 0;
  let status = 200;
  vi.stubGlobal('location', { search: '', pathname: '/rows' });
  vi.stubGlobal('fetch', async (path: string, { signal }: RequestInit) => {
    if (!path.includes('format=sse')) return Response.json({ counts: [] });
    answers++;
    const stream = new ReadableStream({
      start: (controller) =>
        signal!.addEventListener('abort', () => controller.error(signal!.reason)),
    });
    return status === 200 ? new Response(stream) : new Response('{}', { status });
  });
  const feed = createFeed();
  const kind = () => feed.state().connection.kind;
  feed.start();
  await vi.waitUntil(() => kind() === 'open');
  feed.setHidden(true);
  expect(kind()).toBe('asleep');
  status = 401;
  feed.setHidden(false);
  await vi.waitUntil(() => kind() === 'locked');
  feed.setHidden(true);
  feed.setHidden(false);
  expect([kind(), answers]).toEqual(['locked', 2]);
});

it('shows the rows of another store in place of those that it had', async () => {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const say = (text: string) => controller.enqueue(new TextEncoder().encode(text));
  vi.stubGlobal('location', { search: '', pathname: '/rows' });
  vi.stubGlobal('fetch', async (path: string) =>
    path.startsWith('/rows') ? new Response(stream) : Response.json({ counts: [] }),
  );
  const feed = createFeed();
  const shown = () => feed.state().kept.shown.map(({ row }) => row.seq);
  feed.start();
  say(rowOf(8) + rowOf(9) + eventOf('ready', {}));
  await vi.waitUntil(() => shown().length === 2);
  say(eventOf('replaced', {}) + rowOf(1) + eventOf('ready', {}));
  await vi.waitUntil(() => shown().length === 1);
  expect(shown()).toEqual([1]);
});
