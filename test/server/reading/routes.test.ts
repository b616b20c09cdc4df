import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Incoming, Profile, Row, SetupState } from '../../../src/service.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { refusal } from '../store/contract/scenario.js';
import { incomingEvent, incomingIdentify } from '../support/incoming.js';
import { event, identify, runService } from '../support/run-service.js';

type TestService = ReturnType<typeof runService>;

type UserAnswer = { profile?: Profile; rows: Row[]; next: number };

const storeSome = async (service: TestService): Promise<void> => {
  const bodies = [
    { ...event, event: 'Paid', tags: { plan: 'pro' }, user_id: 'u' },
    { ...event, event: 'Seen', channel: 'web' },
    { ...event, event: 'Left', project: 'q' },
    { ...event, event: 'Paid', project: 'q', tags: { plan: 'Free' } },
  ];
  for (const body of bodies) await service.post('/v1/event', body);
  await service.post('/v1/identify', { ...identify, properties: { plan: 'pro' } });
};
/** Events that came at this time. */
const eventsAt = (time: string, count: number): Incoming[] =>
  Array.from({ length: count }, (_, n) =>
    incomingEvent({ id: `${time} ${n}`, calledAt: time, receivedAt: time }, { timestamp: time }),
  );
const seqsOf = (rows: readonly Row[]) => rows.map(({ seq }) => seq);

describe('GET /rows', () => {
  it.each([
    ['', [1, 2, 3, 4, 5]],
    ['project=p', [1, 2, 5]],
    ['channel=web', [2]],
    ['user=u', [1, 5]],
    ['type=identify', [5]],
    ['event=Paid', [1, 4]],
    ['event=Paid&event=Left', [1, 3, 4]],
    ['not=Paid&not=Left', [2, 5]],
    ['text=PLAN', [1, 4, 5]],
    ['text=free', [4]],
    ['project=p&type=event&not=Seen', [1]],
    ['after=2', [3, 4, 5]],
    ['after=5', []],
    ['before=3', [1, 2]],
    ['limit=2', [1, 2]],
    ['newest=1&limit=2', [5, 4]],
    ['newest=1&limit=2&before=4', [3, 2]],
    ["project=p'%20OR%20TRUE--", []],
  ])('gives the rows of ?%s', async (query, seqs) => {
    const service = runService();
    await storeSome(service);
    const answer = await service.json<{ rows: Row[]; next: number }>(`/rows?${query}`);
    expect(seqsOf(answer.rows)).toEqual(seqs);
    // It stays where nothing is new.
    expect(answer.next).toBe(query === 'after=5' ? 5 : Math.max(0, ...seqs));
  });

  it('goes on with the `next` of the newest refusals, too', async () => {
    const service = runService();
    await service.store.refuse([refusal(), refusal()]);
    expect(await service.json('/refused?newest=1&limit=1')).toMatchObject({ next: 2 });
    expect(await service.json('/refused?newest=1&after=2')).toEqual({ refused: [], next: 2 });
  });

  it.each([
    ['limit=x', '`limit` must be a whole number'],
    ['after=-1', '`after` must be a whole number'],
    ['before=1.5', '`before` must be a whole number'],
    ['type=x', '`type` must be identify or event'],
    ['from=today', '`from` must be a date-time of RFC 3339'],
    ['to=2026-03-01', '`to` must be a date-time of RFC 3339'],
    ['format=xml', '`format` must be'],
    [`text=${'x'.repeat(201)}`, '`text` may have 200'],
  ])('says what is wrong with ?%s', async (query, words) => {
    const response = await runService().send(`/rows?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 400,
      message: expect.stringContaining(words),
    });
  });

  it('tells the rows of the browser that asks, and keeps no address', async () => {
    const service = runService({ clientAddress: (request) => request.headers.get('x-from')! });
    const from = (address: string, agent = 'a') => ({ 'x-from': address, 'user-agent': agent });
    await service.post('/v1/event', event, from('192.0.2.1'));
    await service.post('/v1/event', event, from('192.0.2.2'));
    await service.post('/v1/event', event, from('192.0.2.1', 'b'));
    const mine = await service.json<{ rows: Row[] }>('/rows?mine=1', {
      headers: from('192.0.2.1'),
    });
    expect(seqsOf(mine.rows)).toEqual([1]);
    expect(mine.rows[0]!.client).toMatch(/^[0-9a-f]{12}$/);
    expect(JSON.stringify(await service.rows())).not.toContain('192.0.2');
  });

  it('gives all rows as NDJSON, more than a page of them', async () => {
    const service = runService();
    await service.store.write(eventsAt('2026-03-01T12:00:00.000Z', 1_203));
    const response = await service.send('/rows?format=ndjson');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await response.text()).trimEnd().split('\n');
    expect(lines).toHaveLength(1_203);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      seq: 1_203,
      id: '2026-03-01T12:00:00.000Z 1202',
    });
    const newest = await service.send('/rows?newest=1&limit=700&after=100', {
      headers: { accept: 'application/x-ndjson' },
    });
    const some = (await newest.text()).trimEnd().split('\n');
    expect(some).toHaveLength(700);
    expect(JSON.parse(some[0]!)).toMatchObject({ seq: 1_203 });
    expect(JSON.parse(some[699]!)).toMatchObject({ seq: 504 });
  });

  it.each(['ndjson', 'csv'])(
    'gives large rows in pieces that hold up no other work: %s',
    async (format) => {
      const service = runService();
      const tags = { text: 'x'.repeat(60_000) };
      const rows = Array.from({ length: 40 }, (_, n) => incomingEvent({ id: `${n}` }, { tags }));
      await service.store.write(rows);
      const { body } = await service.send(`/rows?format=${format}`);
      const sizes: number[] = [];
      for await (const chunk of body!) sizes.push(chunk.length);
      expect(Math.max(...sizes)).toBeLessThan(400_000);
      expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(40 * 60_000);
    },
  );

  it('begins CSV with a byte order mark where it is asked for, and nothing else', async () => {
    const service = runService();
    const bytesOf = async (query: string) =>
      Buffer.from(await (await service.send(`/rows?${query}`)).arrayBuffer()).toString('hex');
    const plain = await bytesOf('format=csv');
    expect(plain).toMatch(/^736571/); // "seq"
    expect(await bytesOf('format=csv&bom=1')).toBe(`efbbbf${plain}`);
    expect(await bytesOf('format=ndjson&bom=1')).toBe('');
  });

  it('gives CSV in which nothing is a formula', async () => {
    const service = runService();
    const names = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r1', 'a "b",\nc', 'a;b', 'plain'];
    const shown = [
      ...[`'=1+1`, `'+1`, `'-1`, `'@SUM(A1)`, `"'\t'=1"`, `"'\r1"`],
      ...['"a ""b"",\nc"', '"a;b"', 'plain'],
    ];
    for (const name of names) {
      await service.post('/v1/event', { ...event, event: name, tags: { a: '=1' } });
    }
    const response = await service.send('/rows?format=csv');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="rows.csv"');
    const [head, ...lines] = (await response.text()).trimEnd().split('\r\n');
    expect(head).toBe(
      'seq,id,type,project,channel,event,user_id,called_at,received_at,arrivals,timestamp,description,icon,notify,tags,properties',
    );
    shown.forEach((name, n) => expect(lines[n]).toContain(`,c,${name},`));
    expect(lines[0]).toContain('"{""a"":""=1""}"');
  });
});

describe('what else is read', () => {
  it('pages through profiles, a hundred at the most, since each of them may be large', async () => {
    const service = runService();
    const users = Array.from({ length: 102 }, (_, n) => `u${String(n).padStart(3, '0')}`);
    await service.store.write(users.map((id) => incomingIdentify({ id }, { user_id: id })));
    interface Answer {
      profiles: { user_id: string }[];
      next?: string;
    }
    const read = async (query: string) => {
      const { profiles, next } = await service.json<Answer>(`/profiles?${query}`);
      return { read: profiles.map(({ user_id }) => user_id), next };
    };
    const first = await read('limit=1000');
    expect(first.read).toEqual(users.slice(0, 100));
    const after = `after=${encodeURIComponent(first.next!)}`;
    expect((await read(`limit=1&${after}`)).read).toEqual([users[100]]);
    expect(await read(after)).toEqual({ read: users.slice(100), next: undefined });
    expect((await read('project=p&user=u007')).read).toEqual(['u007']);
    expect((await read('project=q')).read).toEqual([]);
    expect((await service.send('/profiles?after=x')).status).toBe(400);
  });

  it('counts rows and what was refused', async () => {
    const service = runService();
    await storeSome(service);
    await service.post('/v1/event', {});
    await vi.waitFor(async () =>
      expect(await service.json('/counts')).toEqual({
        counts: [
          { project: 'p', type: 'event', rows: 2 },
          { project: 'p', type: 'identify', rows: 1 },
          { project: 'q', type: 'event', rows: 2 },
        ],
        refused: 1,
      }),
    );
  });

  it('sums rows by the hour of their arrival', async () => {
    let now = Date.parse('2026-03-01T12:30:00Z');
    const service = runService({ now: () => now });
    const post = (event: string, timestamp: string, id: string, headers = {}) =>
      service.post(
        '/v1/event',
        { project: 'p', channel: 'c', event, timestamp },
        { 'idempotency-key': id, origin: 'https://shop.example', ...headers },
      );
    await post('a', '2026-03-01T12:29:59Z', '1');
    await post('a', '2026-03-01T12:29:59Z', '1');
    await post('b', '2026-03-01T12:00:00Z', '2');
    now = Date.parse('2026-03-01T13:00:00Z');
    await post('a', '2026-02-28T12:00:00Z', '3');
    // By token from a server, and by one that passes on what a browser has called.
    await post('s', '2026-02-28T12:00:00Z', '4', { origin: null });
    await post('s', '2026-02-28T12:00:00Z', '5', { origin: null, 'x-record-from': 'browser' });
    const noon = {
      ...{ hour: '2026-03-01T12:00:00.000Z', rows: 2, repeats: 1 },
      ...{ in_2s: 1, in_1m: 0, in_1h: 1, later: 0, from_server: 0 },
    };
    const one = {
      ...{ hour: '2026-03-01T13:00:00.000Z', rows: 3, repeats: 0 },
      ...{ in_2s: 0, in_1m: 0, in_1h: 0, later: 2, from_server: 1 },
    };
    now += 1; // or the hour that begins now is the next one
    const read = (query: string) => service.json(`/counts?by=hour&${query}`);
    expect(await read('')).toEqual({ hours: [noon, one] });
    expect(await read('from=2026-03-01T12:59:00Z&to=2026-03-01T13:00:00Z')).toEqual({
      hours: [noon],
    });
    expect(await read('from=2026-03-01T15:30:00%2B02:00')).toEqual({ hours: [one] });
    expect(await read('event=b&event=x&project=p&channel=c')).toEqual({
      hours: [{ ...noon, rows: 1, in_2s: 0 }],
    });
    expect(await read('project=q')).toEqual({ hours: [] });
    expect(await read('split=event')).toEqual({
      hours: [noon, one],
      events: [
        { channel: 'c', event: 'a', rows: [1, 1] },
        { channel: 'c', event: 's', rows: [0, 2] },
        { channel: 'c', event: 'b', rows: [1, 0] },
      ],
    });
  });

  it.each([
    ['by=day', '`by` must be hour, refused or filter'],
    ['by=filter&type=page', '`type` must be identify or event'],
    ['by=filter&from=yesterday', '`from` must be a date-time of RFC 3339'],
    ['event=e&to=2026', '`to` must be a date-time of RFC 3339'],
    ['tag=a&tag=b&tag=c&tag=d&tag=e&tag=f', '`tag` may name 5 tags'],
    ['event=e&from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', '366 days at the most'],
    ['by=hour&from=yesterday', '`from` must be a date-time of RFC 3339'],
    ['by=hour&split=user', '`split` must be event'],
    ['by=hour&to=2026', '`to` must be a date-time of RFC 3339'],
    ['by=hour&from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', '366 days at the most'],
  ])('says what is wrong with the counts of %s', async (query, words) => {
    const response = await runService().send(`/counts?${query}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(words);
  });

  it('shows all that is known of a user', async () => {
    const service = runService();
    await storeSome(service);
    const read = async (query: string) => {
      const answer = await service.json<UserAnswer>(`/users?project=p&user=u&${query}`);
      return [answer.profile?.properties, seqsOf(answer.rows), answer.next];
    };
    const properties = { plan: 'pro' };
    expect(await read('')).toEqual([properties, [1, 5], 5]);
    expect(await read('limit=1')).toEqual([properties, [1], 1]);
    expect(await read('after=1')).toEqual([properties, [5], 5]);
    expect(await read('newest=1&limit=1')).toEqual([properties, [5], 5]);
    expect(await read('before=5')).toEqual([properties, [1], 1]);
    const nobody = await service.json('/users?project=q&user=u');
    expect(nobody).toEqual({ rows: [], next: 0 });
  });

  it('gives all that is known of a user as a file: the profile, and then each row', async () => {
    const service = runService();
    await storeSome(service);
    await service.store.write(
      Array.from({ length: 1_200 }, (_, n) => incomingEvent({ id: `${n}` }, { user_id: 'u' })),
    );
    const linesOf = async (query: string) => {
      const response = await service.send(`/users?format=ndjson&${query}`);
      expect(response.headers.get('content-disposition')).toContain('user.ndjson');
      const lines = (await response.text()).split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Partial<Row>);
    };
    const [profile, ...rows] = await linesOf('project=p&user=u');
    expect(profile).toMatchObject({ user_id: 'u', properties: { plan: 'pro' } });
    expect(rows).toEqual(
      await service.store.rows({ project: 'p', user_id: 'u' }, { limit: 2_000 }),
    );
    expect(rows).toHaveLength(1_202);
    expect(await linesOf('project=q&user=u')).toEqual([]);
    expect(await linesOf('project=p&user=nobody')).toEqual([]);
  });

  it.each(['user=u', 'project=p&user=', 'project=p&user=u&limit=x', 'project=p&user=u&format=csv'])(
    'shows no user for %s',
    async (query) => {
      expect((await runService().send(`/users?${query}`)).status).toBe(400);
    },
  );

  it('deletes rows up to the place that their count has named', async () => {
    const service = runService();
    await storeSome(service);
    const remove = async (query: string) =>
      service.json<Record<string, number>>(`/rows?${query}`, { method: 'DELETE' });
    const counted = await remove('project=p&channel=c&event=Paid&dry=1');
    expect(counted).toEqual({ rows: 1, upto: 6 });
    expect(await service.rows()).toHaveLength(5);
    await service.post('/v1/event', { ...event, event: 'Paid' });
    expect(await remove('project=p&channel=c&event=Paid&upto=6')).toEqual({ deleted: 1 });
    expect(seqsOf(await service.rows())).toEqual([2, 3, 4, 5, 6]);
    await service.store.write(eventsAt('2026-01-01T00:00:00.000Z', 3));
    const old = 'project=p&from=2026-01-01T01:00:00%2B01:00&to=2026-01-02T00:00:00Z';
    const { rows, upto } = await remove(`${old}&dry=1`);
    expect([rows, await remove(`${old}&upto=${upto}`)]).toEqual([3, { deleted: 3 }]);
    const counts = await service.json<{ hours: { rows: number }[] }>('/counts?by=hour&project=p');
    expect(counts.hours.reduce((sum, hour) => sum + hour.rows, 0)).toBe(3);
    expect(await service.profiles()).toHaveLength(1);
  });

  it.each([
    ['dry=1', '`project` must be given'],
    ['project=p', 'give `dry=1` to count the rows'],
    ['project=p&dry=0', 'give `dry=1` to count the rows'],
    ['project=p&dry=1&upto=5', 'give `dry=1` to count the rows'],
    ['project=p&upto=x', '`upto` must be a whole number'],
    ['project=p&upto=9&user=u', '`user` is not known here'],
    ['project=p&upto=9&event=a&event=b', '`event` may be given once'],
    ['project=p&dry=1&channel=', '`channel` must not be empty'],
    ['project=p&upto=9&from=yesterday', '`from` must be a date-time'],
    ['project=p&upto=9&to=2026', '`to` must be a date-time'],
  ])('deletes no rows for %s', async (query, words) => {
    const service = runService();
    await storeSome(service);
    const response = await service.send(`/rows?${query}`, { method: 'DELETE' });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(words)]);
    expect(await service.rows()).toHaveLength(5);
  });

  it('erases a user', async () => {
    const service = runService();
    await storeSome(service);
    const response = await service.send('/users?project=p&user=u', { method: 'DELETE' });
    expect(await response.json()).toEqual({ deleted: 2 });
    expect(seqsOf(await service.rows())).toEqual([2, 3, 4]);
    expect((await service.send('/users?project=p', { method: 'DELETE' })).status).toBe(400);
  });

  it('says whom it did not find, where it erases nobody', async () => {
    const service = runService();
    await storeSome(service);
    const erase = (query: string) => service.json(`/users?${query}`, { method: 'DELETE' });
    expect(await erase('project=p&user=jane+news@shop.example')).toEqual({
      deleted: 0,
      message:
        'Nobody of this name is there: project "p", user "jane news@shop.example". A plus in an address is a space: write %2B, or use --data-urlencode of curl',
    });
    expect(await erase('project=q&user=u')).toEqual({
      deleted: 0,
      message: 'Nobody of this name is there: project "q", user "u"',
    });
    while (await service.store.expire('2100-01-01T00:00:00.000Z', 100));
    expect(await erase('project=p&user=u')).toEqual({
      deleted: 0,
      message: 'There were no rows. The profile is deleted',
    });
    expect(await service.profiles()).toEqual([]);
    expect(await service.json('/rows?project=p&event=Sign+Up&dry=1', { method: 'DELETE' })).toEqual(
      {
        ...{ rows: 0, upto: expect.any(Number) as unknown },
        message: expect.stringMatching(
          /^There are no such rows: project "p", event "Sign Up"\. A plus/,
        ) as unknown,
      },
    );
  });

  it.each([
    ['project=p&user=u&news', '`news` is not known here: project, user'],
    ['project=p&user=u&user=v', '`user` may be given once'],
  ])('erases nobody for %s, whose name may have been cut', async (query, words) => {
    const service = runService();
    await storeSome(service);
    const response = await service.send(`/users?${query}`, { method: 'DELETE' });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(words)]);
    expect(await service.rows()).toHaveLength(5);
  });

  it.each([
    ['a number', '42'],
    ['escapes', '"\\u0034\\u0032"'],
  ])(
    'erases a refused record that names its user behind all that is kept of it: %s',
    async (_, id) => {
      const service = runService();
      const long = 'x'.repeat(5_000);
      await service.post('/v1/event', `{"project":"p","channel":"${long}","user_id":${id}}`);
      await service.post('/v1/event', `{"project":"p","channel":"${long}","user_id":"other"}`);
      await vi.waitUntil(async () => (await service.refused()).length === 2);
      await service.send('/users?project=p&user=42', { method: 'DELETE' });
      expect((await service.refused()).map(({ user_id }) => user_id)).toEqual(['other']);
    },
  );

  it('tells how far setting up has come, and the last refusal with its fix', async () => {
    const told = { tag: '<script src="outbox.js"></script>', tokenFile: '/data/write-token' };
    const service = runService(told);
    expect(await service.json('/setup')).toEqual({ ...told, steps: {} });
    const stand = async () => {
      const { steps, problem } = await service.json<SetupState>('/setup');
      return [Object.keys(steps).join(), problem?.step, problem?.message];
    };
    service.service.note('file');
    // Nobody's preflight: a probe, and a page that asks for something else.
    await service.send('/v1/event', { method: 'OPTIONS' });
    const headers = { 'access-control-request-method': 'POST' };
    await service.send('/other', { method: 'OPTIONS', headers });
    expect(await stand()).toEqual(['file', undefined, undefined]);
    await service.send('/v1/event', { method: 'OPTIONS', headers });
    await service.post('/v1/event', event, { authorization: null });
    const noToken = expect.stringContaining('no token');
    expect(await stand()).toEqual(['file,preflight', 'accepted', noToken]);
    await service.post('/v1/event', { ...event, tags: 1 });
    const tags = expect.stringContaining('`tags`');
    expect(await stand()).toEqual(['file,preflight,accepted', 'stored', tags]);
    await service.post('/v1/event', event);
    expect(await stand()).toEqual(['file,preflight,accepted,stored', 'stored', tags]);
  });

  it.each([{}, { seqs: 1 }, { seqs: ['1'] }, { seqs: Array(1_001).fill(1) }, 'x'])(
    'refuses to resend %j',
    async (body) => {
      const service = runService();
      const init = { method: 'POST', body: JSON.stringify(body) };
      expect((await service.send('/refused/resend', init)).status).toBe(400);
    },
  );
});

describe('retention', () => {
  it('deletes what is older, and goes on', async () => {
    const service = runService({
      retentionDays: 30,
      now: () => Date.parse('2026-03-01T00:00:00Z'),
    });
    await service.store.write([
      ...eventsAt('2026-01-01T00:00:00.000Z', 1_100),
      ...eventsAt('2026-02-20T00:00:00.000Z', 1),
    ]);
    await vi.waitFor(async () => expect(await service.rows()).toHaveLength(1));
    expect(await service.json('/counts')).toMatchObject({ counts: [{ rows: 1 }] });
  });

  it.each([1e5, 1e7, 1e12, Number.MAX_VALUE])(
    'keeps everything where the days, %d, reach beyond any calendar',
    async (retentionDays) => {
      const service = runService({ retentionDays });
      const expire = vi.fn(async () => 0);
      Object.assign(service.store, { expire });
      await vi.waitFor(() => expect(expire).toHaveBeenCalled());
      expect(expire).toHaveBeenCalledWith('1970-01-01T00:00:00.000Z', expect.any(Number));
      expect(service.errors).toEqual([]);
    },
  );

  it('deletes what was refused in time, while all rows wait for a target', async () => {
    const store = createLibsqlStore({ path: ':memory:' });
    await store.progress.take('one', 'me');
    await store.write(eventsAt('2026-01-20T00:00:00.000Z', 1));
    await store.refuse([refusal({ received_at: '2026-01-20T00:00:00.000Z' })]);
    const service = runService({
      ...{ store, retentionDays: 30 },
      now: () => Date.parse('2026-02-20T00:00:00Z'),
    });
    await vi.waitFor(async () => expect(await store.countRefused()).toBe(0));
    expect(await service.rows()).toHaveLength(1);
  });

  it('waits 7 days for the targets of exports, and says what they lack for good', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const store = createLibsqlStore({ path: ':memory:' });
    await store.write([
      ...eventsAt('2026-01-20T00:00:00.000Z', 700),
      ...eventsAt('2026-01-26T00:00:00.000Z', 10),
      ...eventsAt('2026-02-20T00:00:00.000Z', 1),
    ]);
    const { progress } = store;
    const one = await progress.take('one', 'me', { from: 650 });
    const two = await progress.take('two', 'me', { from: 690 });
    let now = Date.parse('2026-02-28T00:00:00Z');
    const service = runService({ store, retentionDays: 30, now: () => now });
    const firstLeft = async (seq: number) => {
      while ((await store.rows({}, { limit: 1 }))[0]!.seq !== seq)
        await vi.advanceTimersByTimeAsync(20_000);
    };
    /** Looks until this is reported, and for some time after that. */
    const saysLost = async (words: string) => {
      const message = `rows were deleted by their age (\`retentionDays\`) that were not exported: ${words}`;
      while (!service.errors.length) await vi.advanceTimersByTimeAsync(20_000);
      for (let n = 0; n < 20; n++) await vi.advanceTimersByTimeAsync(20_000);
      expect(service.errors.splice(0)).toEqual([{ kind: 'dropped', message }]);
    };
    await saysLost('50 to one, 10 to two');
    await firstLeft(701);
    now += 3 * 86_400_000;
    await progress.keep(one!, { place: 705 });
    await progress.keep(two!, { place: 708 });
    await firstLeft(706);
    expect(service.errors).toEqual([]);
    now += 2 * 86_400_000;
    await saysLost('5 to one, 2 to two');
    await firstLeft(711);
    now += 20 * 86_400_000;
    await progress.forget('one');
    await progress.keep(two!, { place: 711 });
    while ((await service.rows()).length) await vi.advanceTimersByTimeAsync(20_000);
    expect(service.errors).toEqual([]);
  });

  it('says once that it fails, and when it works again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const onRecovery = vi.fn();
    const service = runService({ retentionDays: 30, onRecovery });
    const expire = vi
      .fn(async () => 0)
      .mockRejectedValueOnce(new Error('locked'))
      .mockRejectedValueOnce(new Error('locked'));
    Object.assign(service.store, { expire });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(expire).toHaveBeenCalledTimes(3);
    expect(service.errors).toEqual([
      { kind: 'store', message: 'rows are not deleted by age: locked' },
    ]);
    expect(onRecovery).toHaveBeenCalledTimes(1);
  });
});
