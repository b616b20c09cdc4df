import { describe, expect, vi } from 'vitest';
import { createMatcher } from '../../../../src/server/reading/create-matcher.js';
import type { EventBody } from '../../../../src/interface/bodies.js';
import type { Row, RowFilter, Span, Store } from '../../../../src/server/store/port.js';
import {
  ALL,
  at,
  event,
  first,
  identify,
  idsOf,
  refusal,
  refusedOf,
  rowsOf,
  times,
  scenarioOf,
  type Part,
} from './scenario.js';

/** Reading, following and deleting rows. */
export const describeRows: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`the feed of ${name}`, () => {
    it('is read in pages, forwards and backwards', async (store) => {
      await store.write(times(10, () => event()));
      const rows = await rowsOf(store);
      const seqs = rows.map(({ seq }) => seq);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
      expect(new Set(seqs).size).toBe(10);
      expect(await store.rows({}, { limit: 3 })).toEqual(rows.slice(0, 3));
      expect(await store.rows({}, { limit: 3, after: seqs[2] })).toEqual(rows.slice(3, 6));
      expect(await store.rows({}, { limit: 3, newest: true })).toEqual(rows.slice(7).reverse());
      const span = { limit: 3, before: seqs[7], newest: true };
      expect(await store.rows({}, span)).toEqual(rows.slice(4, 7).reverse());
      expect(await store.rows({}, { ...ALL, after: seqs[1], before: seqs[4] })).toEqual(
        rows.slice(2, 4),
      );
      expect(await store.rows({}, { ...ALL, after: seqs[9] })).toEqual([]);
    });

    it('is read of tags and properties', async (store) => {
      const all = [
        { plan: 'pro', n: 3 },
        { plan: 'pro', n: 33 },
        { plan: 'prof', o: { n: '3' } },
      ];
      for (const tags of [...all, { 'plan=': 'x"y' }]) await store.write([event({ tags })]);
      await store.write([identify({ plan: 'pro' })]);
      const read = async (...tag: string[]) => {
        const rows = await store.rows({ tag }, ALL);
        const matches = createMatcher({ tag });
        const every = await rowsOf(store);
        const live = every.filter((row) => matches({ row, body: () => JSON.stringify(row.body) }));
        expect(live).toEqual(rows);
        return rows.map(({ seq }) => every.findIndex((row) => row.seq === seq));
      };
      expect(await read('plan=pro')).toEqual([0, 1, 4]);
      expect(await read('n=3')).toEqual([0, 2]);
      expect(await read('n')).toEqual([0, 1, 2]);
      expect(await read('plan=pro', 'n=33')).toEqual([1]);
      expect(await read('plan=PRO')).toEqual([]);
      expect(await read("plan='; --")).toEqual([]);
    });

    it('is read of a time', async (store) => {
      const hour = (n: number) => new Date(Date.UTC(2026, 2, 1, n)).toISOString();
      // Rows that are imported or copied come in any order of their times.
      const hours = [3, 1, 4, 2, 1, 5];
      await store.write(hours.map((n) => event({ tags: { n } }, { receivedAt: hour(n) })));
      const read = async (filter: RowFilter, span: Partial<Span> = {}) =>
        (await store.rows(filter, { ...ALL, ...span })).map(
          ({ body }) => (body as EventBody & { tags: { n: number } }).tags.n,
        );
      const from = hour(2);
      expect(await read({ from })).toEqual([3, 4, 2, 5]);
      expect(await read({ to: from })).toEqual([1, 1]);
      expect(await read({ from, to: hour(4) })).toEqual([3, 2]);
      expect(await read({ from, to: hour(5) }, { newest: true, limit: 2 })).toEqual([2, 4]);
      expect(await read({ from: hour(9) })).toEqual([]);
    });

    it('never has a row behind a place that was read, while several processes write', async (store, {
      open,
    }) => {
      const stores = [store, await open(), await open()];
      const reader = await open();
      let isDone = false;
      const writing = Promise.all(
        stores.map(async (store) => {
          for (let n = 0; n < 15; n++) await store.write(times((n % 30) + 1, () => event()));
        }),
      ).finally(() => (isDone = true));
      const read: Row[] = [];
      for (let isLast = false; ; isLast = isDone) {
        const rows = await reader.rows({}, { ...ALL, after: read.at(-1)?.seq });
        read.push(...rows);
        await new Promise(setImmediate); // a store may answer before anything else can run
        if (isLast && !rows.length) break;
      }
      await writing;
      expect(idsOf(read)).toEqual(idsOf(await reader.rows({}, ALL)));
    });

    it('is told to those who follow: of each process, of rows, of what was refused and of what was erased', async (store, {
      open,
    }) => {
      const other = await open();
      const [told, stopped] = [vi.fn(), vi.fn()];
      store.follow(stopped)();
      const stop = store.follow(told);
      const isTold = async () => {
        await vi.waitFor(() => expect(told).toHaveBeenCalled());
        told.mockClear();
      };
      await store.write([event()]);
      await isTold();
      await other.write([event()]);
      await isTold();
      await other.refuse([refusal()]);
      await isTold();
      await other.erase({ project: 'p', user_id: 'nobody' });
      await isTold();
      stop();
      expect(stopped).not.toHaveBeenCalled();
    });
  });

  describe(`the rows of ${name}`, () => {
    it('are found by what they are', async (store) => {
      const records = {
        plain: event(),
        project: event({ project: 'q' }),
        channel: event({ channel: 'd', event: 'f' }),
        user: event({ user_id: 'u', event: 'g' }),
        client: event({}, { client: 'abc' }),
        identify: identify({}),
      };
      await store.write(Object.values(records));
      const find = async (filter: Parameters<Store['rows']>[0]) => {
        const ids = idsOf(await store.rows(filter, ALL));
        return Object.entries(records).flatMap(([key, { id }]) => (ids.includes(id) ? [key] : []));
      };
      const all = Object.keys(records);
      expect(await find({})).toEqual(all);
      expect(await find({ event: [], not: [], text: '' })).toEqual(all);
      expect(await find({ project: 'q' })).toEqual(['project']);
      expect(await find({ channel: 'd' })).toEqual(['channel']);
      expect(await find({ user_id: 'u' })).toEqual(['user', 'identify']);
      expect(await find({ user_id: 'u', type: 'event' })).toEqual(['user']);
      expect(await find({ type: 'identify' })).toEqual(['identify']);
      expect(await find({ client: 'abc' })).toEqual(['client']);
      expect(await find({ event: ['f', 'g'] })).toEqual(['channel', 'user']);
      expect(await find({ not: ['e', 'f'] })).toEqual(['user', 'identify']);
      expect(await find({ event: ['e', 'f'], not: ['f'], project: 'p' })).toEqual([
        'plain',
        'client',
      ]);
      expect(await find({ event: [`' OR true --`], user_id: `"; DROP` })).toEqual([]);
    });

    it('are found by any text of the body, whatever its case, and none stands for another', async (store) => {
      const texts = [
        'Übergröße für 100 % Wolle',
        'under_score',
        'say "hi" to C:\\temp\\new',
        `it's $1 or \\1 (a|b)+ [c-d] ^e$ {2} f.g*h?`,
        'two\nlines\tand a tab',
        '日本語 😀',
      ];
      await store.write(texts.map((text) => event({ tags: { text } })));
      const find = async (text: string) =>
        (await store.rows({ text }, ALL)).map(({ body }) =>
          texts.indexOf(((body as EventBody).tags as { text: string }).text),
        );
      expect(await find('ÜBERGRÖßE FÜR')).toEqual([0]);
      expect(await find('übergröße')).toEqual([0]);
      expect(await find('100 %')).toEqual([0]);
      expect(await find('0%')).toEqual([]);
      expect(await find('r_s')).toEqual([1]);
      expect(await find('r_e')).toEqual([]);
      expect(await find('"HI"')).toEqual([2]);
      expect(await find('c:\\Temp\\n')).toEqual([2]);
      expect(await find(`IT'S $1 or \\1`)).toEqual([3]);
      for (const text of ['(a|b)+', '[c-d]', '^e$', '{2}', 'f.g*h?', ']', '^', '\\1'])
        expect(await find(text)).toContain(3);
      for (const text of ['(a|z)+', '[c-e]', 'f.?', 'f*', '.*z', 'it.s', '[^z]', 'b)?'])
        expect(await find(text)).toEqual([]);
      expect(await find('two\nlines')).toEqual([4]);
      expect(await find('本語 😀')).toEqual([5]);
    });

    it('are counted by project and type', async (store) => {
      expect(await store.counts()).toEqual([]);
      await store.write([event(), event(), identify({}), event({ project: 'a' })]);
      await store.write([event({ project: 'a' })]);
      expect(await store.counts()).toEqual([
        { project: 'a', type: 'event', rows: 2 },
        { project: 'p', type: 'event', rows: 2 },
        { project: 'p', type: 'identify', rows: 1 },
      ]);
    });

    it('expire by their age, some at a time', async (store) => {
      const ages = [5, 1, 9, 2, 3];
      await store.write(ages.map((age) => event({}, { id: `at ${age}`, receivedAt: at(age) })));
      expect(await store.expire(at(5), 2)).toBe(2);
      expect(idsOf(await rowsOf(store))).toEqual(['at 5', 'at 9', 'at 3']);
      expect(await store.expire(at(5), 2)).toBe(1);
      expect(await store.expire(at(5), 2)).toBe(0);
      expect(idsOf(await rowsOf(store))).toEqual(['at 5', 'at 9']);
      expect(await store.counts()).toEqual([{ project: 'p', type: 'event', rows: 2 }]);
    });

    it('expire up to a place, if there is one', async (store) => {
      const ages = [5, 1, 9, 2, 3];
      await store.write(ages.map((age) => event({}, { id: `at ${age}`, receivedAt: at(age) })));
      const { seq } = (await rowsOf(store))[3]!;
      expect(await store.expire(at(6), 10, seq)).toBe(2);
      expect(idsOf(await rowsOf(store))).toEqual(['at 9', 'at 2', 'at 3']);
      expect(await store.expire(at(6), 10, seq)).toBe(0);
      expect(await store.expire(at(6), 10)).toBe(2);
    });

    it('of a user are erased, with the profile and what was refused of that user', async (store, {
      spoil,
    }) => {
      await spoil('bad', 'no');
      const many = times(2_100, () => event({ user_id: 'gone "1"' }));
      await store.write([
        ...many,
        identify({ a: 1 }, {}, { user_id: 'gone "1"' }),
        event({ user_id: 'gone "1"', event: 'bad' }),
        event({ user_id: 'gone "1"', project: 'q' }),
        event({ user_id: 'stays' }),
        identify({ a: 1 }, {}, { user_id: 'stays' }),
      ]);
      const body = '{"project":"p","user_id":"gone \\"1\\"","event":';
      await store.refuse([
        refusal({ project: 'p', user_id: 'gone "1"' }),
        refusal({ body }),
        refusal({ project: 'q', user_id: 'gone "1"', message: 'of another project' }),
        refusal({ project: 'p', user_id: 'stays', message: 'of another user' }),
      ]);
      expect(await store.erase({ project: 'p', user_id: 'gone "1"' })).toBe(2_101);
      expect(await store.erase({ project: 'p', user_id: 'gone "1"' })).toBe(0);
      const left = await rowsOf(store);
      expect(left.map(({ project, user_id }) => [project, user_id])).toEqual([
        ['q', 'gone "1"'],
        ['p', 'stays'],
        ['p', 'stays'],
      ]);
      const profiles = await store.profiles({}, ALL);
      expect(profiles.map(({ user_id }) => user_id)).toEqual(['stays']);
      expect((await refusedOf(store)).map(({ message }) => message)).toEqual([
        'of another project',
        'of another user',
      ]);
      expect(await store.counts()).toEqual([
        { project: 'p', type: 'event', rows: 1 },
        { project: 'p', type: 'identify', rows: 1 },
        { project: 'q', type: 'event', rows: 1 },
      ]);
    });

    it('of a user are erased with what was refused, whatever the spelling of its JSON', async (store) => {
      const ofUser = [
        ...['{"user_id":42}', '{"user_id": 4.2e1}', '{"user_id":"\\u0034\\u0032"}'],
        ...['{"user\\u005fid":"42"}', '[{"tags":{"customer":[true,"42"]}}]'],
        ...['{"user_id":"4\\u0032","event":"cut', '{"user_id":42,"event":"cut'],
        ...["{ user_id: '42' }", 'user_id=42', '"{\\"user_id\\":\\"42\\"}"', '42'],
      ];
      const ofOthers = [
        ...['{"user_id":"420"}', '{"user_id":142}', '{"user_id":"4\\u00320","event":"cut'],
        ...['{"user_id":null}', '{}', ''],
      ];
      for (const project of ['p', undefined, 'q'])
        await store.refuse(
          [...ofUser, ...ofOthers].map((body) => refusal({ body, ...(project && { project }) })),
        );
      await store.erase({ project: 'p', user_id: '42' });
      expect((await refusedOf(store)).map(({ project, body }) => [project, body])).toEqual([
        ...ofOthers.map((body) => ['p', body]),
        ...ofOthers.map((body) => [undefined, body]),
        ...[...ofUser, ...ofOthers].map((body) => ['q', body]),
      ]);
    });

    it('are all gone when they are erased, and their places are not given again', async (store) => {
      expect(await store.lastPlace()).toBe(0);
      await store.write([event(), identify({})]);
      const { seq } = first(await store.rows({}, { limit: 1, newest: true }));
      expect(await store.lastPlace()).toBe(seq);
      await store.erase({ project: 'p' });
      expect(await store.lastPlace()).toBeGreaterThan(seq);
      expect(await rowsOf(store)).toEqual([]);
      expect(await store.counts()).toEqual([]);
      await store.write([event()]);
      expect(first(await rowsOf(store)).seq).toBeGreaterThan(seq);
    });
  });
};
