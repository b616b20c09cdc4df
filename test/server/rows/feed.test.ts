import { afterEach, expect, it, vi } from 'vitest';
import { createFeed } from '../../../src/server/rows/page/state/feed.js';

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

it('reads all that was refused, behind a flood too, and sends all dead letters again', async () => {
  const received_at = new Date().toISOString();
  const refused = Array.from({ length: 3000 }, (_, at) => {
    const isDead = at < 2000 && { isDead: true };
    return { seq: at + 1, received_at, reason: 'token', status: 401, message: '', ...isDead };
  }).reverse();
  const resent: number[] = [];
  vi.stubGlobal('location', { search: '', pathname: '/rows' });
  vi.stubGlobal('history', { pushState: () => undefined });
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    if (pathname === '/counts') return Response.json({ counts: [] });
    if (pathname === '/rows') {
      const first = refused.slice(0, 50).reverse();
      const text = first.map((one) => eventOf('refused', one)).join('') + eventOf('ready', {});
      return new Response(text);
    }
    if (pathname === '/refused') {
      const behind = refused.filter(({ seq }) => seq < Number(searchParams.get('before') ?? 1e6));
      return Response.json({ refused: behind.slice(0, Number(searchParams.get('limit'))) });
    }
    const { seqs } = JSON.parse(init.body as string) as { seqs: number[] };
    if (seqs.length > 1000) return Response.json({}, { status: 400 });
    resent.push(...seqs);
    // The last one was sent again by another page.
    const there = seqs.filter((seq) => seq !== 1);
    return Response.json({ results: there.map((seq) => ({ seq, outcome: 'stored' })) });
  });
  const feed = createFeed();
  feed.start();
  await vi.waitUntil(() => feed.state().isReady);
  feed.setHidden(true);
  expect(feed.state().refused).toHaveLength(50);
  feed.choose('refused');
  await vi.waitUntil(() => !feed.state().hasMoreRefused);
  expect(feed.state().refused).toEqual(refused);
  const dead = refused.filter(({ isDead }) => isDead).map(({ seq }) => seq);
  await feed.resend(dead);
  expect(resent).toEqual(dead);
  expect(feed.state().refused).toEqual(refused.slice(0, -1));
});

it('counts the rows anew where none matches', async () => {
  let rows = 1;
  vi.stubGlobal('location', { search: '', pathname: '/rows' });
  vi.stubGlobal('history', { pushState: () => undefined });
  vi.stubGlobal('fetch', async (path: string) =>
    path === 'counts'
      ? Response.json({ counts: [{ project: 'p', type: 'event', rows }] })
      : new Response((path.includes('text=') ? '' : rowOf(1)) + eventOf('ready', {})),
  );
  const feed = createFeed();
  feed.start();
  await vi.waitUntil(() => feed.state().isReady && feed.state().total === 1);
  rows = 2;
  feed.filter({ ...feed.state().filters, text: 'x' });
  expect(feed.state().total).toBeUndefined();
  await vi.waitUntil(() => feed.state().total === 2);
  feed.setHidden(true);
});

it('shows the rows of another store in place of those that it had', async () => {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const say = (text: string) => controller.enqueue(new TextEncoder().encode(text));
  vi.stubGlobal('location', { search: '', pathname: '/rows' });
  vi.stubGlobal('fetch', async (path: string) =>
    path.startsWith('rows') ? new Response(stream) : Response.json({ counts: [] }),
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

it('takes away the rows that are erased, and closes one of them that is open', async () => {
  let send: (text: string) => void = () => undefined;
  vi.stubGlobal('location', { search: '', pathname: '/rows' });
  vi.stubGlobal('fetch', async (path: string) => {
    if (!path.includes('format=sse')) return Response.json({ counts: [], rows: [] });
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => (send = (text) => controller.enqueue(new TextEncoder().encode(text))),
    });
    return new Response(stream);
  });
  const feed = createFeed();
  feed.start();
  await vi.waitUntil(() => feed.state().connection.kind === 'open');
  send([1, 2, 3].map(rowOf).join('') + eventOf('ready', {}));
  await vi.waitUntil(() => feed.state().isReady);
  feed.open(2);
  const erasure = { place: 3, project: 'p', upto: 3 };
  send(eventOf('erased', erasure) + rowOf(4));
  const shown = () => feed.state().kept.shown.map(({ row }) => row.seq);
  await vi.waitUntil(() => !shown().includes(2));
  expect(shown()).toEqual([4, 3]);
  expect([feed.state().openSeq, feed.holds('open')]).toEqual([undefined, false]);
});

it('has its tab, its user or its filters in the address', () => {
  let address = '';
  vi.stubGlobal('location', { search: '?show=overview&event=A', pathname: '/rows' });
  const pushState = (_: unknown, __: string, next: string) => void (address = next);
  vi.stubGlobal('history', { pushState, replaceState: pushState });
  vi.stubGlobal('scrollTo', () => undefined);
  vi.stubGlobal('fetch', async () => new Response('{}', { status: 503 }));
  const feed = createFeed();
  expect(feed.state()).toMatchObject({ tab: 'overview', filters: { event: ['A'] } });
  const person = { project: 'shop', user: 'mia & co' };
  feed.choose('users', person);
  expect([address, feed.state().person]).toEqual([
    '?project=shop&user=mia+%26+co&show=users',
    person,
  ]);
  feed.choose('users');
  expect([address, feed.state().person]).toEqual(['?show=users', undefined]);
  feed.choose('rows');
  expect(address).toBe('?event=A');
  // Filters lead to rows, whatever tab was shown.
  feed.choose('refused');
  feed.filter({ ...feed.state().filters, user: 'mia' });
  expect([address, feed.state().tab]).toEqual(['?user=mia&event=A', 'rows']);
  vi.stubGlobal('location', { search: '?show=users&project=p&user=u', pathname: '/rows' });
  feed.readAddress();
  expect(feed.state()).toMatchObject({ tab: 'users', person: { project: 'p', user: 'u' } });
  feed.setHidden(true);
});

/** A service that looks at ten places a time, and has a row that matches at the places given. */
const searchable = (matches: readonly number[]) => {
  const asked: number[] = [];
  const found = (before: number) => {
    const [place, is_all] = [Math.max(1, before - 10), before <= 11];
    const seqs = matches.filter((seq) => seq >= place && seq < before).reverse();
    return { seqs, looked: { place, is_all, since: '2026-03-01T12:00:00.000Z' } };
  };
  let go = (): void => undefined;
  vi.stubGlobal('location', { search: '?text=x', pathname: '/rows' });
  vi.stubGlobal('fetch', async (path: string) => {
    const query = new URL(path, 'http://localhost').searchParams;
    if (!path.startsWith('rows')) return Response.json({ counts: [] });
    expect(query.get('brief')).toBe('1');
    if (query.get('format') === 'sse') {
      const { seqs, looked } = found(101);
      return new Response(seqs.reverse().map(rowOf).join('') + eventOf('ready', { looked }));
    }
    asked.push(Number(query.get('before')));
    await new Promise<void>((resolve) => (go = resolve));
    const { seqs, looked } = found(Number(query.get('before')));
    const rows = seqs.map((seq) => JSON.parse(rowOf(seq).split('data: ')[1]!) as object);
    return Response.json({ rows, looked });
  });
  return { asked, go: () => go() };
};

it('goes on looking until nothing is left, and says how far it came', async () => {
  const service = searchable([3, 5, 98]);
  const feed = createFeed();
  feed.start();
  for (let at = 1; at <= 9; at++) {
    await vi.waitUntil(() => service.asked.length === at);
    expect(feed.state()).toMatchObject({ older: 'loading', looked: { place: 101 - 10 * at } });
    service.go();
  }
  await vi.waitUntil(() => feed.state().older === 'idle');
  expect(service.asked).toEqual([91, 81, 71, 61, 51, 41, 31, 21, 11]);
  expect(feed.state().kept.shown.map(({ row }) => row.seq)).toEqual([98, 5, 3]);
  expect(feed.state().kept.hasOlder).toBe(false);
  feed.setHidden(true);
});

it('stops looking when it is told to, and goes on from there', async () => {
  const service = searchable([5]);
  const feed = createFeed();
  feed.start();
  await vi.waitUntil(() => service.asked.length === 1);
  feed.stopSearch();
  service.go();
  expect(feed.state()).toMatchObject({ older: 'stopped', looked: { place: 91 } });
  void feed.loadOlder();
  await vi.waitUntil(() => service.asked.length === 2);
  expect(service.asked).toEqual([91, 91]);
  expect(feed.state().older).toBe('loading');
  feed.setHidden(true);
});
