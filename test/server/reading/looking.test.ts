import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/interface/bodies.js';
import type {
  Breakdown,
  FilterCounts,
  Looked,
  Row,
  SeenUsers,
} from '../../../src/server/store/port.js';
import { event, identify, runService } from '../support/run-service.js';
import { incomingEvent } from '../support/incoming.js';
import { readEvents } from '../support/read-events.js';

const OF_PROJECT = { headers: { authorization: 'Bearer of-p-0123456789abcdef' } };
const options = {
  readToken: 'all-0123456789abcdef',
  readTokens: [{ token: 'of-p-0123456789abcdef', project: 'p' }],
};
const OF_ALL = { headers: { authorization: 'Bearer all-0123456789abcdef' } };

type Service = ReturnType<typeof runService>;
const send = async (service: Service, ...bodies: Partial<EventBody>[]): Promise<void> => {
  for (const body of bodies)
    expect((await service.post('/v1/event', { ...event, ...body })).status).toBe(200);
};
/** A service with rows of two projects, and users of the same names in both. */
const twoProjects = async (): Promise<Service> => {
  const service = runService(options);
  await send(
    service,
    { event: 'Signed Up', user_id: 'mia', tags: { plan: 'pro' } },
    { event: 'Signed Up', user_id: 'ben', tags: { plan: 'free' } },
    { event: 'Signed Up', user_id: 'mia', tags: { plan: 'pro' } },
    { project: 'q', event: 'Signed Up', user_id: 'mia', tags: { plan: 'secret' } },
    { project: 'q', event: 'Signed Up', user_id: 'other', tags: { plan: 'secret' } },
  );
  await service.post('/v1/identify', { ...identify, user_id: 'mia', properties: { plan: 'pro' } });
  return service;
};

describe('GET /counts of an event', () => {
  it('has rows, hours, users and the values of tags', async () => {
    const service = await twoProjects();
    const query = '/counts?event=Signed%20Up&tag=plan&tag=none&project=p';
    const found = await service.json<Breakdown>(query, OF_ALL);
    expect(found).toMatchObject({ rows: 3, is_exact: true, users: 2, names: ['plan'] });
    expect(found.hours.map(({ rows }) => rows)).toEqual([3]);
    expect(found.looked).toMatchObject({ rows: 3, is_all: true });
    expect(found.tags).toEqual([
      {
        tag: 'plan',
        values: [
          { value: 'pro', rows: 2 },
          { value: 'free', rows: 1 },
        ],
        others: 0,
      },
      { tag: 'none', values: [], others: 0 },
    ]);
  });

  it('takes a tag with a value for a filter', async () => {
    const service = await twoProjects();
    const found = await service.json<Breakdown>('/counts?tag=plan&tag=plan=pro', OF_ALL);
    // The identify has it, too.
    expect(found).toMatchObject({ rows: 3, users: 1 });
    expect(found.tags[0]!.values).toEqual([{ value: 'pro', rows: 2 }]);
  });

  it('has thirty days if no time is given', async () => {
    const now = Date.UTC(2026, 2, 1, 12);
    const service = runService({ now: () => now });
    await service.store.write(
      [29, 31].map((days, n) =>
        incomingEvent({ id: `r${n}`, receivedAt: new Date(now - days * 86_400_000).toISOString() }),
      ),
    );
    expect((await service.json<Breakdown>('/counts?event=e')).rows).toBe(1);
    expect((await service.json<Breakdown>('/counts?event=e&from=2025-12-01T00:00:00Z')).rows).toBe(
      2,
    );
  });

  it('cuts the values of strangers, however many and long they are', async () => {
    const service = runService();
    const texts = Array.from({ length: 300 }, (_, n) => `${n} ${'x'.repeat(60_000)}`);
    await service.store.write(
      texts.map((text, n) => incomingEvent({ id: `r${n}` }, { tags: { text } })),
    );
    const response = await service.send('/counts?event=e&tag=text&from=2026-02-01T00:00:00Z');
    const text = await response.text();
    expect(text.length).toBeLessThan(5_000);
    const [tag] = (JSON.parse(text) as Breakdown).tags;
    expect(tag).toMatchObject({ others: 290 });
    expect(tag!.values).toHaveLength(10);
    expect(tag!.values.every(({ is_part, value }) => is_part && value.length === 256)).toBe(true);
  });
});

describe('GET /counts of a filter', () => {
  it('has the rows of all of it, and of each part', async () => {
    const service = await twoProjects();
    const query = '/counts?by=filter&event=Signed%20Up&tag=plan=pro&user=mia&not=x&project=p';
    const found = await service.json<FilterCounts & { filters: object[] }>(query, OF_ALL);
    const part = (name: string, value: string, rows: number) => ({
      name,
      value,
      rows,
      is_exact: true,
    });
    expect(found).toMatchObject({ rows: 2, is_exact: true, looked: { rows: 6, is_all: true } });
    expect(found.filters).toEqual([
      part('project', 'p', 4),
      part('user', 'mia', 3),
      part('event', 'Signed Up', 5),
      part('not', 'x', 0),
      part('tag', 'plan=pro', 3),
    ]);
  });

  it('does not look at rows for names that have sums', async () => {
    const service = await twoProjects();
    const found = await service.json<object>('/counts?by=filter&event=Signed%20Up', OF_ALL);
    expect(found).toEqual({
      ...{ rows: 5, is_exact: true },
      filters: [{ name: 'event', value: 'Signed Up', rows: 5, is_exact: true }],
    });
  });
});

describe('GET /users', () => {
  it('lists users by who was here last, with a profile and without', async () => {
    const service = await twoProjects();
    const { users, looked } = await service.json<SeenUsers>('/users', OF_ALL);
    expect(users.map(({ project, user_id, rows }) => [project, user_id, rows])).toEqual([
      ['p', 'mia', 3],
      ['q', 'other', 1],
      ['q', 'mia', 1],
      ['p', 'ben', 1],
    ]);
    expect(users.map(({ properties }) => properties)).toEqual([
      { plan: 'pro' },
      ...[undefined, undefined, undefined],
    ]);
    expect(looked).toMatchObject({ is_all: true });
  });

  it('goes on at `next`, and finds by a beginning and by a property', async () => {
    const service = await twoProjects();
    const names = async (query: string) => {
      const page = await service.json<{ users: SeenUsers['users']; next?: string }>(
        `/users?${query}`,
        OF_ALL,
      );
      return {
        next: page.next,
        names: page.users.map(({ project, user_id }) => project + user_id),
      };
    };
    const first = await names('limit=2');
    expect(first.names).toEqual(['pmia', 'qother']);
    const after = encodeURIComponent(first.next!);
    expect((await names(`limit=9&after=${after}`)).names).toEqual(['qmia', 'pben']);
    expect((await names('start=mi')).names).toEqual(['pmia', 'qmia']);
    expect((await names('start=m%25')).names).toEqual([]);
    const found = await names('start=mi&limit=1');
    expect((await names(`start=mi&after=${encodeURIComponent(found.next!)}`)).names).toEqual([
      'qmia',
    ]);
    expect((await names('tag=plan%3Dpro')).names).toEqual(['pmia']);
  });

  it('counts the rows of days that the query names', async () => {
    const service = runService();
    const [day, hour] = [86_400_000, 3_600_000];
    const noon = Date.UTC(2026, 2, 1, 12);
    await service.store.write(
      [0, 1, 1, 25, 49].map((hours, n) =>
        incomingEvent(
          { id: `r${n}`, receivedAt: new Date(noon - hours * hour).toISOString() },
          { user_id: 'u' },
        ),
      ),
    );
    const days = [0, 1, 2].map((n) => `day=${new Date(noon + hour - (2 - n) * day).toISOString()}`);
    const { users } = await service.json<SeenUsers>(`/users?${days.join('&')}`);
    expect(users[0]!.days).toEqual([1, 3]);
  });

  it.each([
    ['start=a&tag=b', 'give `start` or `tag`'],
    ['day=yesterday', '`day` must be a date-time of RFC 3339'],
    ['after=4', '`after` must be the `next` of an answer'],
    ['after=[1,"x"]', '`after` must be the `next` of an answer'],
    ['limit=x', '`limit` must be a whole number'],
    ['user=u', '`project` and `user` must be given'],
  ])('says what is wrong with %s', async (query, words) => {
    const response = await runService().send(`/users?${query}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(words);
  });
});

describe('a token of one project', () => {
  it('sees no counts, values and users of another one', async () => {
    const service = await twoProjects();
    for (const query of [
      ...['/counts?event=Signed%20Up&tag=plan', '/counts?tag=plan', '/users', '/users?start=m'],
      ...['/users?start=o', '/counts?by=filter&event=Signed%20Up&tag=plan=secret&user=other'],
      ...['/rows?brief=1&format=json&text=secret', '/users?tag=plan'],
    ]) {
      const text = await (await service.send(query, OF_PROJECT)).text();
      expect([query, text]).not.toEqual([
        query,
        expect.stringMatching(/"project":"q"|"value":"secret"|"user_id":"other"/),
      ]);
    }
    const own = await service.json<Breakdown>('/counts?event=Signed%20Up&tag=plan', OF_PROJECT);
    expect(own).toMatchObject({ rows: 3, users: 2 });
    const counts = await service.json<FilterCounts & { filters: { rows: number }[] }>(
      ...(['/counts?by=filter&event=Signed%20Up&user=other', OF_PROJECT] as const),
    );
    expect(counts).toMatchObject({ rows: 0, filters: [{ rows: 4 }, { rows: 0 }, { rows: 3 }] });
    expect((await service.send('/users?project=q', OF_PROJECT)).status).toBe(403);
  });
});

it('has an erased user in no count and no list', async () => {
  const service = await twoProjects();
  await service.send('/users?project=p&user=mia', { method: 'DELETE', ...OF_ALL });
  const text = async (query: string) => (await service.send(query, OF_ALL)).text();
  expect(await text('/users?project=p')).not.toContain('mia');
  expect(await text('/users?project=p&start=m')).not.toContain('mia');
  expect(await text('/users?tag=plan')).not.toContain('mia');
  expect(JSON.parse(await text('/counts?by=filter&user=mia&project=p'))).toMatchObject({ rows: 0 });
  expect(JSON.parse(await text('/counts?event=Signed%20Up&project=p'))).toMatchObject({
    ...{ rows: 1, users: 1 },
  });
});

it('refuses the name of an event that is longer than a database takes as a key', async () => {
  const service = runService();
  const long = await service.post('/v1/event', { ...event, event: 'ü'.repeat(513) });
  expect(long.status).toBe(400);
  expect(await long.text()).toContain('`event` may have 1024 bytes');
  await send(service, { event: 'ü'.repeat(512) });
});

describe('a search that is brief', () => {
  it('says how far it came, in a page of rows and before the stream goes on', async () => {
    const service = await twoProjects();
    const query = '/rows?brief=1&newest=1&text=free';
    const page = await service.json<{ rows: Row[]; looked: Looked }>(query, OF_ALL);
    expect(page.rows).toHaveLength(1);
    expect(page.looked).toMatchObject({ is_all: true });
    const { until } = await readEvents(
      await service.send('/rows?brief=1&format=sse&text=free', OF_ALL),
    );
    const seen = await until((events) => events.some(({ name }) => name === 'ready'));
    expect(seen.filter(({ name }) => name === 'row')).toHaveLength(1);
    const ready = seen.find(({ name }) => name === 'ready')!;
    expect(ready.data).toMatchObject({ looked: { is_all: true } });
  });
});
