import { describe, expect } from 'vitest';
import type { EventBody } from '../../../../src/interface/bodies.js';
import { createMatcher } from '../../../../src/server/reading/create-matcher.js';
import { MAX_PAIRS } from '../../../../src/server/store/hours.js';
import type {
  Row,
  RowFilter,
  SeenUser,
  Store,
  UserFilter,
} from '../../../../src/server/store/port.js';
import { ALL, event, idsOf, identify, rowsOf, scenarioOf, times, type Part } from './scenario.js';

const BASE = Date.UTC(2026, 2, 1, 12);
const [MINUTE, DAY] = [60_000, 24 * 3_600_000];
const iso = (ms: number): string => new Date(ms).toISOString();
const FROM = iso(BASE - 30 * DAY);
/** Long enough for all rows of a test. */
const MS = 20_000;
const arriving = (at: number) => ({ calledAt: iso(at), receivedAt: iso(at) });

/** Names of tags that are something else in paths into JSON. */
const ODD_NAMES = ['a.b', 'a"b', "a'b", '$x', '1', '', '[0]', '#', '*', 'a\\b', 'ü 🎉', '$.tags'];

const rowsWhere = (rows: readonly Row[], filter: RowFilter): Row[] => {
  const matches = createMatcher(filter);
  return rows.filter((row) => matches({ row, body: () => JSON.stringify(row.body) }));
};

/** Values of a tag by how many rows have them, counted here. */
const valuesOf = (rows: readonly Row[], tag: string): [value: string, rows: number][] => {
  const counts = new Map<string, number>();
  for (const { body } of rows) {
    const tags = ((body as EventBody).tags ?? {}) as Record<string, unknown>;
    if (!Object.hasOwn(tags, tag)) continue;
    const value = tags[tag];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
};

/** Users of rows with what a list says of them, the last one first, counted here. */
const usersOf = (rows: readonly Row[], days: readonly string[]): Omit<SeenUser, 'properties'>[] => {
  const users = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.user_id === undefined) continue;
    const key = JSON.stringify([row.project, row.user_id]);
    users.set(key, [...(users.get(key) ?? []), row]);
  }
  return [...users]
    .sort((a, b) => b[1].at(-1)!.seq - a[1].at(-1)!.seq)
    .map(([key, own]) => {
      const [project, user_id] = JSON.parse(key) as [string, string];
      const within =
        (at: number) =>
        ({ received_at }: Row) =>
          received_at >= days[at]! && received_at < days[at + 1]!;
      return {
        ...{ project, user_id, rows: own.length },
        last_seen: own.at(-1)!.received_at,
        days: days.slice(1).map((_, at) => own.filter(within(at)).length),
      };
    });
};

const DAYS = times(15, (n) => iso(BASE - (14 - n) * DAY));
const LIST: UserFilter = { days: DAYS, limit: 1_000 };

/** All pages of a list of users. */
const allUsers = async (store: Store, filter: Partial<UserFilter>): Promise<SeenUser[]> => {
  const users: SeenUser[] = [];
  for (let after: UserFilter['after']; ;) {
    const page = await store.users({ ...LIST, ...filter, after }, MS);
    users.push(...page.users);
    if (!page.next) return users;
    after = page.next;
  }
};

/** Records of two projects, several hours, names, users and tags. */
const many = (count: number) =>
  times(count, (n) => {
    const record = arriving(BASE - n * 47 * MINUTE);
    const body = {
      project: n % 5 ? 'p' : 'q',
      ...(n % 7 ? { user_id: `u${n % 13}` } : {}),
    };
    if (n % 9 === 8) return identify({ n }, record, { ...body, user_id: `u${n % 13}` });
    const tags = { plan: ['free', 'pro', 'team', 3, true][n % 5], n: n % 40 };
    return event({ ...body, event: `e${n % 3}`, channel: n % 2 ? 'c' : 'd', tags }, record);
  });

/** What is counted by looking at rows. */
export const describeLooking: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`looking through the rows of ${name}`, () => {
    it('finds what fits, says how far it came, and goes on from there', async (store) => {
      await store.write(many(300));
      const fitting = rowsWhere(await rowsOf(store), { text: 'pro' }).reverse();
      const found: Row[] = [];
      for (let before: number | undefined; ;) {
        const { rows, looked } = await store.search(
          { text: 'pro' },
          { limit: 20, newest: true, before },
          MS,
        );
        found.push(...rows);
        if (looked.is_all) break;
        expect(rows).toHaveLength(20);
        expect(looked.place).toBe(rows.at(-1)!.seq);
        expect(looked.since).toBe(rows.at(-1)!.received_at);
        before = looked.place;
      }
      expect(found).toEqual(fitting);
    });

    it('ends when its time is over, after one step at least', async (store) => {
      await store.write(many(300));
      const rows = await rowsOf(store);
      const { rows: found, looked } = await store.search(
        { text: 'nowhere' },
        { limit: 20, newest: true },
        0,
      );
      expect(found).toEqual([]);
      expect(looked.is_all).toBe(false);
      expect(looked.place).toBeGreaterThan(rows[0]!.seq);
      expect(looked.since).toBe(rows.find(({ seq }) => seq >= looked.place)!.received_at);
      const { counts, looked: counted } = await store.count([{ text: 'pro' }], 0);
      const newest = rows.filter(({ seq }) => seq >= counted!.place);
      expect(newest.length).toBeLessThan(300);
      expect(counted).toMatchObject({ rows: newest.length, is_all: false });
      expect(counts).toEqual([
        { rows: rowsWhere(newest, { text: 'pro' }).length, is_exact: false },
      ]);
      const part = await store.breakdown({ text: 'pro', from: FROM }, ['plan'], 0);
      expect(part.is_exact).toBe(false);
      expect(part.rows).toBe(rowsWhere(newest, { text: 'pro' }).length);
      expect(part.looked).toMatchObject({ place: counted!.place, is_all: false });
    });

    it('counts what fits each filter, by sums or by rows', async (store) => {
      await store.write(many(300));
      const rows = await rowsOf(store);
      const hour = iso(BASE - 100 * 60 * MINUTE);
      const summed: RowFilter[] = [
        {},
        { project: 'q' },
        { event: ['e1'] },
        { event: ['e1', 'e2'], channel: 'c', project: 'p' },
        { not: ['e1'] },
        { type: 'identify' },
        { type: 'event', from: hour },
        { event: ['e0'], from: hour, to: iso(BASE) },
        { event: ['nobody'] },
        { project: 'nobody' },
      ];
      for (const filter of summed) {
        expect([filter, await store.count([filter], 0)]).toEqual([
          filter,
          { counts: [{ rows: rowsWhere(rows, filter).length, is_exact: true }] },
        ]);
      }
      const looked: RowFilter[] = [
        ...[
          { text: 'PRO' },
          { tag: ['plan=pro'] },
          { user_id: 'u3' },
          { project: 'p', tag: ['n'] },
        ],
        { event: ['e1'], tag: ['plan=true', 'n=4'] },
      ];
      const counted = await store.count([...looked, { event: ['e1'] }], MS);
      expect(counted.counts).toEqual(
        [...looked, { event: ['e1'] }].map((filter) => ({
          ...{ rows: rowsWhere(rows, filter).length, is_exact: true },
        })),
      );
      expect(counted.looked).toMatchObject({ rows: 300, is_all: true });
      // In the middle of an hour.
      const within = {
        event: ['e1'],
        from: iso(BASE - 3_000 * MINUTE),
        to: iso(BASE - 100 * MINUTE),
      };
      const [some] = (await store.count([within], MS)).counts;
      expect(some).toEqual({ rows: rowsWhere(rows, within).length, is_exact: true });
    });

    it('counts rows where a name has no sums of its own', async (store) => {
      const at = arriving(BASE - MINUTE);
      await store.write(times(MAX_PAIRS + 20, (n) => event({ event: `e${n % 600}` }, at)));
      const long = 'long'.repeat(400);
      await store.write([event({ event: long }, at), event({ event: 'e515' }, at)]);
      const filters = [{ event: ['e515'] }, { event: [long] }, { not: ['e515'] }, {}];
      const { counts } = await store.count(filters, MS);
      expect(counts.map(({ rows }) => rows)).toEqual([2, 1, MAX_PAIRS + 20, MAX_PAIRS + 22]);
      const { rows, hours, is_exact } = await store.breakdown(
        { event: ['e515'], from: FROM },
        [],
        MS,
      );
      expect({ rows, hours, is_exact }).toEqual({
        ...{ rows: 2, is_exact: true, hours: [{ hour: iso(BASE - 60 * MINUTE), rows: 2 }] },
      });
    });

    it('breaks the rows of a filter down by hour, user and tag', async (store) => {
      await store.write(many(400));
      const rows = await rowsOf(store);
      const filters: (RowFilter & { from: string })[] = [
        { event: ['e1'], from: FROM },
        { event: ['e1'], project: 'p', from: FROM, to: iso(BASE) },
        { from: iso(BASE - 5 * DAY - MINUTE) },
        { tag: ['plan=pro'], from: FROM },
      ];
      for (const filter of filters) {
        const fitting = rowsWhere(rows, filter);
        const found = await store.breakdown(filter, ['plan', 'n', 'none'], MS);
        const hours = new Map<string, number>();
        for (const { received_at } of fitting) {
          const hour = `${received_at.slice(0, 13)}:00:00.000Z`;
          hours.set(hour, (hours.get(hour) ?? 0) + 1);
        }
        expect(found).toMatchObject({
          rows: fitting.length,
          is_exact: true,
          names: expect.arrayContaining(['n', 'plan']),
        });
        expect(found.looked).toMatchObject({ rows: fitting.length, is_all: true });
        expect(found.hours.map(({ hour, rows: n }) => [hour, n])).toEqual([...hours].sort());
        const users = fitting.filter(({ user_id }) => user_id !== undefined);
        expect(found.users).toBe(
          new Set(users.map(({ project, user_id }) => JSON.stringify([project, user_id]))).size,
        );
        for (const { tag, values, others } of found.tags) {
          const all = valuesOf(fitting, tag);
          expect(values).toEqual(all.slice(0, 10).map(([value, n]) => ({ value, rows: n })));
          expect(others).toBe(all.slice(10).reduce((sum, [, n]) => sum + n, 0));
        }
      }
    });

    it('finds tags by any name, and values of any kind', async (store) => {
      const values = [
        ...['text', '3', '', ' ', '<b>', 'שלום', 'a"b\\'],
        ...[3, -0.1, 0.1 + 0.2, 1e21, 1e-7, 2 ** 60, 12.5],
        ...[true, false, null],
      ];
      for (const tag of ODD_NAMES) {
        const records = values.map((value) =>
          event({ event: `of ${tag}`, tags: { [tag]: value, other: 1 } }),
        );
        await store.write([...records, event({ event: `of ${tag}`, tags: { [`${tag}x`]: 'no' } })]);
        const rows = rowsWhere(await rowsOf(store), { event: [`of ${tag}`] });
        const { tags, names } = await store.breakdown(
          { event: [`of ${tag}`], from: FROM },
          [tag],
          MS,
        );
        const all = valuesOf(rows, tag);
        expect([tag, all.find(([value]) => value === '3')]).toEqual([tag, ['3', 2]]);
        expect([tag, tags[0]!.values]).toEqual([
          tag,
          all.slice(0, 10).map(([value, n]) => ({ value, rows: n })),
        ]);
        expect(tags[0]!.others).toBe(values.length - 11);
        expect(names).toEqual([tag, ...[`${tag}x`, 'other'].sort()]);
      }
    });

    it('counts a tag that differs if an event is asked for without one', async (store) => {
      await store.write(times(20, (n) => event({ tags: { a: 1, path: `/${n % 2}`, z: n } })));
      const { tags, names } = await store.breakdown({ event: ['e'], from: FROM }, [], MS);
      expect(names).toEqual(['path', 'z', 'a']);
      expect(tags).toEqual([
        {
          tag: 'path',
          values: [
            { value: '/0', rows: 10 },
            { value: '/1', rows: 10 },
          ],
          others: 0,
        },
      ]);
      expect((await store.breakdown({ from: FROM }, [], MS)).tags).toEqual([]);
    });

    it('takes NUL in a name for what is stored in its place', async (store) => {
      await store.write([event({ tags: { 'a\0b': 'x\0y' } })]);
      const { tags } = await store.breakdown({ from: FROM }, ['a\0b', 'a\ufffdb'], MS);
      const values = [{ value: 'x\ufffdy', rows: 1 }];
      expect(tags.map((one) => one.values)).toEqual([values, values]);
    });

    it('cuts long values, and says of which no filter can ask', async (store) => {
      const long = '🎉'.repeat(300);
      await store.write([
        ...[long, `${long} more`, { a: [1] }, [1, 2]].map((tag) => event({ tags: { tag } })),
        event({ tags: { tag: '🎉'.repeat(256) } }),
        event({ tags: { tag: '{"a":[1]}' } }),
      ]);
      const { tags } = await store.breakdown({ from: FROM }, ['tag'], MS);
      expect(tags[0]!.values[0]).toEqual({ value: '🎉'.repeat(256), is_part: true, rows: 2 });
      expect(tags[0]!.values).toHaveLength(5);
      expect(tags[0]!.values).toContainEqual({ value: '{"a":[1]}', rows: 1 });
      expect(tags[0]!.values).toContainEqual({ value: '[1,2]', is_part: true, rows: 1 });
    });

    it('lists users by who was here last, with their profiles and days', async (store) => {
      await store.write(many(300).reverse());
      await store.write([
        identify({ plan: 'pro', a: { b: 1 }, name: 'Mia' }, arriving(BASE), { user_id: 'u1' }),
      ]);
      const rows = await rowsOf(store);
      const all = await allUsers(store, {});
      expect(all.map(({ properties: _, ...user }) => user)).toEqual(usersOf(rows, DAYS));
      expect(all[0]).toMatchObject({ user_id: 'u1', properties: { plan: 'pro', name: 'Mia' } });
      expect(all.some(({ properties }) => properties === undefined)).toBe(true);
      expect(await allUsers(store, { limit: 3 })).toEqual(all);
      const ofProject = all.filter(({ project }) => project === 'q');
      expect(await allUsers(store, { project: 'q' })).toEqual(ofProject);
      const ofProfile = await allUsers(store, { property: 'plan=pro' });
      expect(ofProfile.map(({ user_id }) => user_id)).toEqual(['u1']);
      expect(await allUsers(store, { property: 'plan=prof' })).toEqual([]);
      const named = await allUsers(store, { property: 'n' });
      expect(named).toEqual(all.filter(({ properties }) => properties));
    });

    it('misses nobody of a list, and shows nobody twice, while others write', async (store) => {
      await store.write(many(300));
      const all = await allUsers(store, {});
      const users: SeenUser[] = [];
      for (let after: UserFilter['after']; ;) {
        const page = await store.users({ ...LIST, limit: 2, after }, MS);
        users.push(...page.users);
        if (!page.next) break;
        after = page.next;
        const { project, user_id } = all.at(-1)!;
        await store.write([event({ project, user_id }), event({ user_id: `new ${users.length}` })]);
      }
      const names = (list: readonly SeenUser[]) =>
        list.map(({ project, user_id }) => [project, user_id]);
      expect(names(users)).toEqual(names(all));
    });

    it('lists users by how their ids begin, whatever their letters', async (store) => {
      const ids = ['mia', 'mia@a', 'Mia', 'mi', 'mib', 'mia🎉', '%', '_', 'mia%', 'ünal'];
      for (const project of ['p', 'q'])
        await store.write(ids.flatMap((user_id) => times(3, () => event({ project, user_id }))));
      const found = async (start: string, filter: Partial<UserFilter> = {}) =>
        (await allUsers(store, { start, ...filter })).map(
          ({ project, user_id }) => project + user_id,
        );
      const begin = ['mia', 'mia%', 'mia@a', 'mia🎉'];
      expect(await found('mia')).toEqual([
        ...begin.map((id) => `p${id}`),
        ...begin.map((id) => `q${id}`),
      ]);
      expect(await found('mia', { limit: 3 })).toEqual(await found('mia'));
      expect(await found('mia', { project: 'q', limit: 2 })).toEqual(begin.map((id) => `q${id}`));
      expect(await found('%')).toEqual(['p%', 'q%']);
      expect(await found('ü', { project: 'p' })).toEqual(['pünal']);
      expect(await found('nobody')).toEqual([]);
    });

    it('says of which days it has not seen all rows', async (store) => {
      const records = (count: number, at: number) =>
        times(count, () => event({ user_id: 'u' }, arriving(at)));
      for (let n = 0; n < 3; n++) await store.write(records(700, BASE - (4 - n) * DAY + MINUTE));
      const [user] = await allUsers(store, {});
      expect(user).toMatchObject({ rows: 2_100 });
      expect(user!.days.slice(-5)).toEqual([null, null, 700, 700, 0]);
      await store.write(records(8_000, BASE - MINUTE));
      expect((await allUsers(store, {}))[0]).toMatchObject({ rows: 10_000 });
    });

    it('has nothing of a user who was erased', async (store) => {
      await store.write(many(200));
      await store.write([identify({ plan: 'pro' }, {}, { user_id: 'u3' })]);
      await store.erase({ project: 'p', user_id: 'u3' });
      const rows = await rowsOf(store);
      const all = await allUsers(store, {});
      expect(all.some(({ project, user_id }) => project === 'p' && user_id === 'u3')).toBe(false);
      expect(await allUsers(store, { start: 'u3', project: 'p' })).toEqual([]);
      expect(await allUsers(store, { property: 'plan' })).toEqual([]);
      expect((await store.breakdown({ from: FROM }, [], MS)).rows).toBe(rows.length);
      const [count] = (await store.count([{ user_id: 'u3', project: 'p' }], MS)).counts;
      expect(count).toEqual({ rows: 0, is_exact: true });
    });

    it('lets others have their turn, and gives each a turn of its own', async (store) => {
      await store.write(many(400));
      const searches = times(5, () =>
        store.search({ text: 'nowhere' }, { ...ALL, newest: true }, MS),
      );
      await store.write([event()]);
      expect(idsOf((await Promise.all(searches)).flatMap(({ rows }) => rows))).toEqual([]);
    });
  });
};
