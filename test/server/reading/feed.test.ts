import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { join } from 'node:path';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { tempFolder } from '../../support/temp-folder.js';
import { incomingEvent } from '../support/incoming.js';
import { event, runService } from '../support/run-service.js';
import { readEvents, type ServerSentEvent } from '../support/read-events.js';

type TestService = ReturnType<typeof runService>;

const many = (from: number, to: number, body = {}, receivedAt = new Date().toISOString()) =>
  Array.from({ length: to - from }, (_, n) =>
    incomingEvent({ id: `r${from + n}`, receivedAt }, { event: `e${from + n}`, ...body }),
  );
const open = async (service: TestService, query = '', headers = {}) =>
  readEvents(await service.send(`/rows?format=sse&${query}`, { headers }));
const isReady = (seen: readonly ServerSentEvent[]) => seen.some(({ name }) => name === 'ready');
const namesOf = (seen: readonly ServerSentEvent[]) =>
  seen.filter(({ name }) => name === 'row').map(({ data }) => data['event']);
const erasedOf = (seen: readonly ServerSentEvent[]) =>
  seen.filter(({ name }) => name === 'erased').map(({ data }) => data);
const lastOf = (seen: readonly ServerSentEvent[]) =>
  seen.findLast(({ name }) => name === 'row')?.data['event'];
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `e${from + n}`);

describe('the feed', () => {
  it('gives the last 200 rows and 50 refused at once, the oldest first, and then what is new', async () => {
    const service = runService({ tag: 'the tag' });
    await service.store.write(many(0, 250));
    await service.store.refuse(
      Array.from({ length: 60 }, (_, n) => ({
        ...({ received_at: new Date().toISOString(), reason: 'field', status: 400 } as const),
        message: `m${n}`,
      })),
    );
    const feed = await open(service);
    await feed.until(isReady);
    expect(namesOf(feed.seen)).toEqual(numbers(50, 250));
    const refused = feed.seen.filter(({ name }) => name === 'refused');
    expect(refused.map(({ data }) => data['message'])).toEqual(
      Array.from({ length: 50 }, (_, n) => `m${n + 10}`),
    );
    expect(refused.at(-1)!.id).toMatch(/^250\.60\b/);
    expect(feed.seen.find(({ name }) => name === 'setup')!.data).toEqual({
      ...{ tag: 'the tag', steps: {} },
    });
    await service.post('/v1/event', { ...event, event: 'live' });
    await service.post('/v1/event', {});
    const problems = () => feed.seen.filter(({ data }) => data['problem']);
    await feed.until(
      (seen) => problems().length > 0 && seen.some(({ id }) => id.startsWith('251.61')),
    );
    expect(namesOf(feed.seen).at(-1)).toBe('live');
    expect(problems().at(-1)!.data).toMatchObject({
      problem: { message: expect.stringContaining('`project`') },
    });
  });

  it('misses nothing of a burst, in order, whoever reads slowly', async () => {
    const service = runService();
    const feed = await open(service);
    await feed.until(isReady);
    for (let n = 0; n < 2_000; n += 100) await service.store.write(many(n, n + 100));
    await feed.until((seen) => namesOf(seen).length >= 2_000);
    expect(namesOf(feed.seen)).toEqual(numbers(0, 2_000));
  });

  it('misses nothing of more refused than it reads at a time', async () => {
    const service = runService();
    const feed = await open(service);
    await feed.until(isReady);
    const one = { received_at: new Date().toISOString(), reason: 'field', status: 400 } as const;
    const messages = Array.from({ length: 1_000 }, (_, n) => `m${n}`);
    await service.store.refuse(messages.map((words) => ({ ...one, message: words })));
    const refused = () => feed.seen.filter(({ name }) => name === 'refused');
    await feed.until(() => refused().length >= 1_000);
    expect(refused().map(({ data }) => data['message'])).toEqual(messages);
  });

  it('tells of the last of many refusals, and not of each', async () => {
    const service = runService();
    const feed = await open(service);
    await feed.until(isReady);
    const problems = () =>
      feed.seen.filter(({ name, data }) => name === 'setup' && data['problem']);
    const isLast = () => JSON.stringify(problems().at(-1)?.data ?? '').includes('no token');
    const reading = feed.until(isLast);
    for (let n = 0; n < 300; n++)
      await service.post('/v1/event', event, { authorization: 'Bearer wrong' });
    await service.post('/v1/event', event, { authorization: null });
    await reading;
    expect(problems().length).toBeLessThan(100);
  });

  it('keeps the line open for one who reads, and fills no memory for one who does not', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const service = runService();
    const reader = (await service.send('/rows?format=sse')).body!.getReader();
    onTestFinished(() => reader.cancel());
    const read = async () => new TextDecoder().decode((await reader.read()).value as Uint8Array);
    while (!(await read()).includes('event: ready'));
    for (const sign of ['event: health', ': alive']) {
      const next = read();
      vi.advanceTimersByTime(2_000);
      expect(await next).toContain(sign);
    }
    vi.advanceTimersByTime(3_600_000);
    await service.store.write(many(0, 1));
    let text = '';
    while (!text.includes('event: row')) text += await read();
    expect(text.match(/: alive|event: health/g)).toHaveLength(1);
  });

  it('goes on behind the last event, with nothing left out and nothing twice', async () => {
    const service = runService();
    await service.store.write(many(0, 10));
    const first = await open(service);
    await first.until((seen) => namesOf(seen).length >= 4);
    const { id } = first.seen.filter(({ name }) => name === 'row')[3]!;
    await first.cancel();
    await service.store.write(many(10, 1_300));
    const second = await open(service, '', { 'last-event-id': id });
    await second.until((seen) => namesOf(seen).length >= 1_296);
    expect(namesOf(second.seen)).toEqual(numbers(4, 1_300));
    const tail = await open(service, 'after=1298');
    await tail.until(isReady);
    expect(namesOf(tail.seen)).toEqual(['e1298', 'e1299']);
  });

  it.each([
    ['an empty one', 0],
    ['one with fewer rows', 3],
    ['one with more rows', 12],
  ])(
    'says that the store is another, and begins anew, where the place was in %s',
    async (_, has) => {
      const before = runService();
      await before.store.write(many(0, 10));
      const first = await open(before);
      await first.until(isReady);
      const { id } = first.seen.at(-1)!;

      const after = runService();
      // Another millisecond than that of the rows before, as it is after a restart.
      const later = new Date(Date.now() + 60_000).toISOString();
      await after.store.write(many(100, 100 + has, {}, later));
      const second = await open(after, '', { 'last-event-id': id });
      await second.until(isReady);
      const [head] = second.seen.filter(({ name }) => name !== 'health');
      expect(head!.name).toBe('replaced');
      expect(namesOf(second.seen)).toEqual(numbers(100, 100 + has));
    },
  );

  it.each([0, 1])(
    'goes on in the same store, though the row at the place was erased, and %i came since',
    async (since) => {
      const service = runService();
      await service.store.write([...many(0, 2), ...many(2, 3, { user_id: 'u' })]);
      const first = await open(service);
      await first.until(isReady);
      const { id } = first.seen.at(-1)!;
      await service.store.erase({ project: 'p', user_id: 'u' });
      await service.store.write(many(3, 3 + since));
      const second = await open(service, '', { 'last-event-id': id });
      await second.until(isReady);
      expect(second.seen.map(({ name }) => name)).not.toContain('replaced');
      expect(namesOf(second.seen)).toEqual(numbers(3, 3 + since));
    },
  );

  it.each(['x', '1.', '-1', '1.2.3.4.5', '99999999999999999'])(
    'begins anew for an id that is none of its own: %s',
    async (id) => {
      const service = runService();
      await service.store.write(many(0, 2));
      const feed = await open(service, '', { 'last-event-id': id });
      await feed.until(isReady);
      expect(namesOf(feed.seen)).toEqual(['e0', 'e1']);
    },
  );

  it('gives what the filter asks for, at once and live', async () => {
    const service = runService();
    await service.store.write([...many(0, 300), ...many(300, 302, { project: 'q' })]);
    const feed = await open(service, 'project=q&not=e301&text=E30');
    await feed.until(isReady);
    expect(namesOf(feed.seen)).toEqual(['e300']);
    await service.store.write([...many(302, 900), ...many(3_000, 3_002, { project: 'q' })]);
    await feed.until((seen) => namesOf(seen).length >= 3);
    expect(namesOf(feed.seen)).toEqual(['e300', 'e3000', 'e3001']);
  });

  it('finds the same texts as the list, in whatever case they are searched for', async () => {
    const texts = [
      'ΟΔΟΣ',
      'οδος',
      'Οδοσ',
      'ΟΔΟΣ ΟΔΟΣ',
      'straße',
      'STRASSE',
      'İstanbul',
      'istanbul',
    ];
    const more = [
      'DŽ Dž dž',
      '\u00b5g',
      '\u03bcg',
      'ſ',
      'S',
      '\u212a',
      'k',
      '\u2126',
      'ω',
      'ΐ',
      '"\n\\',
      'a\u0000b',
    ];
    const service = runService();
    const rows = [...texts, ...more].flatMap((text, n) => many(n, n + 1, { tags: { text } }));
    await service.store.write(rows);
    const lists: Record<string, number> = {};
    const compare = async (asked: string): Promise<void> => {
      const live = runService();
      const query = `text=${encodeURIComponent(asked)}`;
      const list = (await service.rows(query)).map(({ event }) => event);
      const feed = await open(live, query);
      await feed.until(isReady);
      await live.store.write(rows.concat(many(900, 901, { tags: { asked } })));
      await feed.until((seen) => namesOf(seen).includes('e900'));
      expect(namesOf(feed.seen).slice(0, -1), asked).toEqual(list);
      lists[asked] = list.length;
    };
    const cases = [...texts, ...more].flatMap((text) => [
      text,
      text.toLowerCase(),
      text.toUpperCase(),
    ]);
    await Promise.all([...new Set(cases)].map(compare));
    expect(lists['ΟΔΟΣ']).toBe(4);
    expect(lists['οδος']).toBe(4);
  });

  it('costs one read of the store for each group of rows, however many follow, and gives each row once', async () => {
    const service = runService();
    const { store } = service;
    const feeds = await Promise.all(Array.from({ length: 100 }, () => open(service)));
    const all = (event: string) =>
      Promise.all(feeds.map((feed) => feed.until((seen) => lastOf(seen) === event)));
    await store.write(many(0, 1));
    await all('e0');
    const reads = vi.spyOn(store, 'rows');
    for (let n = 1; n < 1_001; n += 100) {
      await store.write(many(n, n + 100));
      await all(`e${n + 99}`);
    }
    // One group may be told of while another is read.
    expect(reads.mock.calls.length).toBeLessThanOrEqual(11);
    for (const { seen } of feeds) expect(namesOf(seen)).toEqual(numbers(0, 1_001));
  });

  it('gives each row once to followers that join in the middle of a flood, new ones and others', async () => {
    const service = runService();
    const { store } = service;
    const first = await open(service);
    await first.until(isReady);
    const { id } = first.seen.at(-1)!;
    const join = async (query: string, headers = {}) => {
      const feed = await open(service, query, headers);
      await feed.until((seen) => lastOf(seen) === 'e2 end');
      return namesOf(feed.seen);
    };
    const joined: {
      all: Promise<unknown[]>;
      newest: Promise<unknown[]>;
      e2: Promise<unknown[]>;
    }[] = [];
    let rows = 0;
    for (let round = 0; round < 8; round++) {
      const all = join('', { 'last-event-id': id });
      joined.push({ all, newest: join(''), e2: join('text=E2', { 'last-event-id': id }) });
      for (let n = 0; n < 10; n++) await store.write(many(rows, (rows += 50)));
      const before = rows - 500;
      await first.until((seen) => seen.filter(({ name }) => name === 'row').length > before);
    }
    await store.write(many(rows, rows + 1, { event: 'e2 end' }));
    await first.until((seen) => lastOf(seen) === 'e2 end');
    const names = [...numbers(0, rows), 'e2 end'];
    expect(namesOf(first.seen)).toEqual(names);
    for (const { all, newest, e2 } of joined) {
      expect(await all).toEqual(names);
      expect(await newest).toEqual(names.slice(names.indexOf((await newest)[0] as string)));
      expect(await e2).toEqual(names.filter((name) => name.includes('e2')));
    }
  });

  it('lets a client that is slow read for itself, and join the others again', async () => {
    const service = runService();
    const { store } = service;
    const [quick, slow] = [await open(service), await open(service)];
    await quick.until(isReady);
    await slow.until(isReady);
    // More than is kept for followers.
    for (let n = 0; n < 6_000; n += 500) {
      await store.write(many(n, n + 500));
      await quick.until((seen) => namesOf(seen).length >= n + 500);
    }
    const reads = vi.spyOn(store, 'rows');
    await slow.until((seen) => namesOf(seen).length >= 6_000);
    expect(reads).toHaveBeenCalled();
    reads.mockClear();
    for (let n = 6_000; n < 6_010; n++) {
      await store.write(many(n, n + 1));
      for (const feed of [quick, slow]) await feed.until((seen) => namesOf(seen).length > n);
    }
    expect(reads.mock.calls.length).toBeLessThanOrEqual(11);
    for (const { seen } of [quick, slow]) expect(namesOf(seen)).toEqual(numbers(0, 6_010));
  });

  it('gives no row that was erased to a client that comes back, or that was slow for long', async () => {
    const service = runService();
    const { store } = service;
    const quick = await open(service);
    await quick.until(isReady);
    const { id } = quick.seen.at(-1)!;
    const slow = (await service.send('/rows?format=sse')).body!.getReader();
    onTestFinished(() => slow.cancel());
    let text = '';
    const read = async () => {
      text += new TextDecoder().decode((await slow.read()).value as Uint8Array);
    };
    while (!text.includes('event: ready')) await read();
    for (const [n, user_id] of ['a', 'u', 'u', 'a'].entries()) {
      await store.write(many(n, n + 1, { user_id }));
      await quick.until((seen) => namesOf(seen).length > n);
    }
    await store.erase({ project: 'p', user_id: 'u' });
    const back = await open(service, '', { 'last-event-id': id });
    await back.until(isReady);
    expect(namesOf(back.seen)).toEqual(['e0', 'e3']);
    await quick.until((seen) => erasedOf(seen).length > 0);
    while (!text.includes('"e3"')) await read();
    expect(text).toContain('"e0"');
    expect(text).not.toMatch(/"e[12]"/);
  });

  it('tells of erased rows whoever follows them, in each process, and whoever comes back', async () => {
    const path = join(tempFolder(), 'service.db');
    const open2 = () => runService({ store: createLibsqlStore({ path }) });
    const [service, other] = [open2(), open2()];
    await service.store.write([...many(0, 3, { user_id: 'u' }), ...many(3, 4, { project: 'q' })]);
    const feeds = await Promise.all(
      ['', 'project=p', 'user=u', 'channel=c&user=u'].map((query) => open(other, query)),
    );
    const others = await Promise.all(
      ['project=q', 'user=someone', 'project=q&channel=d'].map((query) => open(other, query)),
    );
    for (const feed of [...feeds, ...others]) await feed.until(isReady);
    const { id } = feeds[0]!.seen.at(-1)!;
    await service.store.erase({ project: 'p', user_id: 'u' });
    const told = { place: 5, project: 'p', user_id: 'u', upto: 5 };
    for (const feed of feeds) {
      await feed.until((seen) => erasedOf(seen).length > 0);
      expect(erasedOf(feed.seen)).toEqual([told]);
    }
    const back = await open(service, '', { 'last-event-id': id });
    await back.until(isReady);
    expect(erasedOf(back.seen)).toEqual([told]);
    const again = await open(service, '', { 'last-event-id': back.seen.at(-1)!.id });
    const late = await open(service);
    for (const feed of [again, late]) await feed.until(isReady);
    const last = many(9, 10, { project: 'q', channel: 'd', user_id: 'someone' });
    await service.store.write(last);
    for (const feed of [again, late, ...others]) {
      await feed.until((seen) => lastOf(seen) === 'e9');
      expect(erasedOf(feed.seen)).toEqual([]);
    }
  });

  it('tells of an erasure to a follower that came in the middle of it and has read some of the rows', async () => {
    const service = runService();
    await service.store.write(many(0, 4_000, { user_id: 'u' }));
    const erased = service.store.erase({ project: 'p', user_id: 'u' });
    const feed = await open(service);
    await feed.until(isReady);
    expect(namesOf(feed.seen)).not.toEqual([]);
    await service.store.write(many(9_000, 9_001, { user_id: 'u' }));
    await erased;
    await feed.until((seen) => erasedOf(seen).length > 0);
    await feed.until((seen) => lastOf(seen) === 'e9000');
    const gone = feed.seen.filter(({ data }) => Number(data['seq']) < 4_001);
    expect(gone.length).toBe(namesOf(feed.seen).length - 1);
    const back = await open(service, '', { 'last-event-id': feed.seen.at(-1)!.id });
    await service.store.write(many(9_001, 9_002));
    await back.until((seen) => lastOf(seen) === 'e9001');
    expect([erasedOf(back.seen), namesOf(back.seen)]).toEqual([[], ['e9001']]);
  });

  it('ends all followers where the store fails, and loses nothing of what comes meanwhile', async () => {
    const service = runService();
    const { store, errors } = service;
    const feeds = [await open(service), await open(service, 'project=p'), await open(service)];
    for (const feed of feeds) await feed.until(isReady);
    const fail = vi.spyOn(store, 'rows').mockRejectedValue(new Error('away'));
    await store.write(many(0, 10));
    for (const feed of feeds) await feed.until(() => false);
    expect(errors).toEqual([{ kind: 'reading', message: 'GET /rows failed: away' }]);
    expect((await service.send('/rows?format=sse')).status).toBe(503);
    fail.mockRestore();
    await store.write(many(10, 20));
    for (const { seen } of feeds) {
      const again = await open(service, '', { 'last-event-id': seen.at(-1)!.id });
      await again.until(isReady);
      await store.write(many(20, 30));
      await again.until((now) => namesOf(now).length >= 20);
      expect(namesOf(again.seen).slice(0, 20)).toEqual(numbers(0, 20));
    }
  });

  it('watches the store once for all followers, and not at all without any', async () => {
    const service = runService();
    const { follow } = service.store;
    let watching = 0;
    service.store.follow = (onRows) => {
      watching++;
      const stop = follow(onRows);
      return () => {
        watching--;
        stop();
      };
    };
    for (let n = 0; n < 2; n++) {
      const feeds = [await open(service), await open(service)];
      await service.store.write(many(n, n + 1));
      for (const feed of feeds) await feed.until((seen) => namesOf(seen).includes(`e${n}`));
      expect(watching).toBe(1);
      for (const feed of feeds) await feed.cancel();
      await vi.waitUntil(() => !watching);
    }
  });

  it.each(['endFeeds', 'close'] as const)(
    'is counted, and ends with its reader and by %s',
    async (end) => {
      const service = runService();
      const followers = () => service.metrics.filter(([name]) => name === 'followers').at(-1)?.[1];
      const [left, stays] = [await open(service), await open(service)];
      await left.until(isReady);
      await stays.until(isReady);
      expect(followers()).toBe(2);
      await left.cancel();
      await vi.waitFor(() => expect(followers()).toBe(1));
      const rest = stays.until(() => false);
      await service.service[end]();
      await rest;
      expect(followers()).toBe(0);
      expect((await service.send('/rows?format=sse')).status).toBe(503);
    },
  );
});
