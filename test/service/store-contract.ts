import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { EventBody, IdentifyBody } from '../../src/interface/bodies.js';
import type { Incoming, NewRefused, Refused, Row, Store } from '../../src/service/store/port.js';
import { incomingEvent, incomingIdentify } from './support/incoming.js';

export interface StoreWorld {
  /** A handle of one more process on the same records. */
  open: (options?: { onReplaced?: (records: number) => void }) => Promise<Store>;
  /** Has the database refuse events of this name with these words, until what is returned is called. */
  spoil: (event: string, words: string) => Promise<() => Promise<void>>;
}

const ALL = { limit: 10_000 };
const STORED = { outcome: 'stored' };
const KNOWN = { outcome: 'known' };

const idsOf = (rows: readonly { id?: string }[]) => rows.map(({ id }) => id);
const outcomesOf = (results: readonly { outcome: string }[]) => results.map((one) => one.outcome);
const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 12, 0, second)).toISOString();

let made = 0;
const event = (body: Partial<EventBody> = {}, record: Partial<Incoming> = {}) =>
  incomingEvent({ id: `event-${++made}`, ...record }, body);
const identify = (
  properties: object,
  record: Partial<Incoming> = {},
  body: Partial<IdentifyBody> = {},
) => incomingIdentify({ id: `identify-${++made}`, ...record }, { properties, ...body });
const refusal = (refused: Partial<NewRefused> = {}): NewRefused => ({
  ...{ received_at: at(0), reason: 'field', status: 400, message: 'm' },
  ...refused,
});

/** What a store has to give back of a record. */
const rowOf = ({ id, type, body, calledAt, receivedAt, client }: Incoming): Omit<Row, 'seq'> => {
  const { project, channel, event: name, user_id } = body as EventBody;
  return {
    ...{ id, type, project, body, called_at: calledAt, received_at: receivedAt, arrivals: 1 },
    ...(channel !== undefined && { channel }),
    ...(name !== undefined && { event: name }),
    ...(user_id !== undefined && { user_id }),
    ...(client !== undefined && { client }),
  };
};
const withoutSeq = (rows: readonly Row[]) => rows.map(({ seq: _, ...row }) => row);
const first = <Item>(items: readonly Item[]): Item => {
  expect(items).not.toEqual([]);
  return items[0]!;
};

/** What every store of the service does, whatever it is made of. */
export const describeStore = (name: string, enter: () => StoreWorld): void => {
  const open = () => enter().open();
  /** What a body's tags are when they are read again. */
  const kept = async (store: Store, tags: object): Promise<unknown> => {
    const record = event({ tags });
    expect(await store.write([record])).toEqual([STORED]);
    const [row] = await store.rows({}, { limit: 1, newest: true });
    expect(row!.id).toBe(record.id);
    return (row!.body as EventBody).tags;
  };

  describe(`the records of ${name}`, () => {
    it('are given back as they came', async () => {
      const store = await open();
      const records = [
        event({ user_id: 'ü 🎉', description: 'd', icon: '🔥', notify: true, tags: { a: [1] } }),
        event({}, { client: 'abcdef012345', calledAt: at(1), receivedAt: at(2) }),
        identify({ plan: 'pro', nested: { a: null } }, { calledAt: at(3), receivedAt: at(4) }),
      ];
      expect(await store.write(records)).toEqual([STORED, STORED, STORED]);
      expect(withoutSeq(await store.rows({}, ALL))).toEqual(records.map(rowOf));
    });

    it('are none in an empty write', async () => {
      const store = await open();
      expect(await store.write([])).toEqual([]);
      expect(await store.rows({}, ALL)).toEqual([]);
    });

    it('are known when they come again, to each process, and stay as they were', async () => {
      const { open } = enter();
      const [one, other] = [await open(), await open()];
      const record = event({ tags: { n: 1 } });
      const again = { ...record, body: { ...record.body, tags: { n: 2 } }, receivedAt: at(9) };
      expect(await one.write([record])).toEqual([STORED]);
      expect(await other.write([again, event()])).toEqual([KNOWN, STORED]);
      expect(await one.write([again])).toEqual([KNOWN]);
      const [row] = await one.rows({}, ALL);
      expect(row).toMatchObject({ ...rowOf(record), arrivals: 3 });
      expect(await one.counts()).toEqual([{ project: 'p', type: 'event', rows: 2 }]);
    });

    it('are others with the same id in another project or of another type', async () => {
      const store = await open();
      const records = [
        event({}, { id: 'same' }),
        event({ project: 'q' }, { id: 'same' }),
        identify({}, { id: 'same' }),
      ];
      expect(await store.write(records)).toEqual([STORED, STORED, STORED]);
      expect(await store.rows({}, ALL)).toHaveLength(3);
    });

    it('are stored once when they are several times in one batch', async () => {
      const store = await open();
      const [record, other] = [event(), event()];
      const written = await store.write([record, other, record, record]);
      expect(written).toEqual([STORED, STORED, KNOWN, KNOWN]);
      expect((await store.rows({}, ALL)).map(({ id, arrivals }) => [id, arrivals])).toEqual([
        [record.id, 3],
        [other.id, 1],
      ]);
    });

    it('each get their own answer when many are written at once', async () => {
      const { open } = enter();
      const stores = [await open(), await open()];
      const batches = Array.from({ length: 60 }, (_, n) =>
        Array.from({ length: (n % 7) + 1 }, () => event()),
      );
      const write = (batch: readonly Incoming[], n: number) => stores[n % 2]!.write(batch);
      const written = await Promise.all(batches.map(write));
      expect(written.map(({ length }) => length)).toEqual(batches.map(({ length }) => length));
      expect(new Set(outcomesOf(written.flat()))).toEqual(new Set(['stored']));
      const again = await Promise.all(batches.map((batch, n) => write([event(), ...batch], n + 1)));
      for (const [fresh, ...others] of again) {
        expect(fresh).toEqual(STORED);
        expect(new Set(outcomesOf(others))).toEqual(new Set(['known']));
      }
      const ids = idsOf(await stores[0]!.rows({}, ALL));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(batches.flat().length + batches.length);
    });

    it('have the time of their arrival where that of the call cannot be kept', async () => {
      const store = await open();
      const times = [
        ['2026-03-01T13:00:00+01:00', '2026-03-01T12:00:00.000Z'],
        ['2026-03-01t11:59:59.1234567z', '2026-03-01T11:59:59.123Z'],
        ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
        ['0000-01-01T00:00:00Z', at(5)],
        ['9999-12-31T23:59:59Z', at(5)],
        ['soon', at(5)],
      ] as const;
      const records = times.map(([calledAt]) => event({}, { calledAt, receivedAt: at(5) }));
      await store.write(records);
      const rows = await store.rows({}, ALL);
      expect(rows.map(({ called_at }) => called_at)).toEqual(times.map(([, time]) => time));
    });
  });

  describe(`the JSON that ${name} keeps`, () => {
    it('is what was sent, whatever it was', async () => {
      const store = await open();
      await fc.assert(
        fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (tags) => {
          const sent = JSON.parse(JSON.stringify(tags).replaceAll('\\u0000', '')) as object;
          expect(await kept(store, sent)).toEqual(sent);
        }),
        { numRuns: 100 },
      );
    });

    const LONG = [
      `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      `{"a":${'{"b":'.repeat(100)}1${'}'.repeat(100)}}`,
      `{"a":"${'x'.repeat(60_000)}"}`,
      JSON.stringify({ a: 'ü🎉"\\'.repeat(5_000) }),
    ];
    it.each([
      ['{"a":1e400,"b":[-1e400]}', { a: null, b: [null] }], // JSON has no infinity
      ['{"a":-0,"b":5e-324,"c":1.7976931348623157e308,"d":9007199254740993}'],
      ['{"a":0.1,"b":1e21,"c":-1e-7,"d":123456789012345680000}'],
      ['{"__proto__":{"a":1},"constructor":1,"":2}'],
      ['{"a\\\\u0000":"\\\\u0000 \\\\ud800"}'], // a backslash and letters
      ['{"a":"\\u202e\\u200b\\ufeff</script>\\u2028\\ud83d\\ude00"}'],
      ...LONG.map((text) => [text] as [string]),
    ])('is the same in tags and properties: %$', async (text, expected?: object) => {
      const store = await open();
      const sent = JSON.parse(text) as object;
      const back = expected ?? (JSON.parse(JSON.stringify(sent)) as object);
      expect(await kept(store, sent)).toEqual(back);
      await store.write([identify(sent)]);
      const profile = first(await store.profiles({}, ALL));
      expect(profile.properties).toEqual(back);
      expect(Object.keys(profile.set_at).sort()).toEqual(Object.keys(back).sort());
    });

    it('has U+FFFD in place of NUL and of half a character, and the records are counted', async () => {
      const replaced: number[] = [];
      const onReplaced = (records: number): void => {
        replaced.push(records);
        throw new Error('a fault of the operator');
      };
      const store = await enter().open({ onReplaced });
      const bad = 'a\0b\ud800c\udc00';
      const good = 'a\ufffdb\ufffdc\ufffd';
      const records = [
        event({ event: bad, user_id: bad, tags: { [bad]: [bad, { [bad]: bad }] } }),
        event({ tags: { a: '😀 \\u0000' } }),
        identify({ [bad]: bad }, { id: bad }, { user_id: bad }),
      ];
      expect(await store.write(records)).toEqual([STORED, STORED, STORED]);
      expect(replaced).toEqual([2]);
      const [one, two, three] = await store.rows({}, ALL);
      expect(one).toMatchObject({ event: good, user_id: good });
      expect((one!.body as EventBody).tags).toEqual({ [good]: [good, { [good]: good }] });
      expect(two!.body).toEqual(records[1]!.body);
      expect(three).toMatchObject({ id: good, user_id: good });
      expect(await store.write(records)).toEqual([KNOWN, KNOWN, KNOWN]);
      const profile = first(await store.profiles({ user_id: bad }, ALL));
      expect(profile).toMatchObject({ user_id: good, properties: { [good]: good } });
      expect(idsOf(await store.rows({ event: [bad], user_id: bad }, ALL))).toEqual([one!.id]);
      expect(await store.rows({ text: bad, not: [bad] }, ALL)).toHaveLength(1);
      expect(await store.erase('p', bad)).toBe(2);
    });
  });

  describe(`the dead letters of ${name}`, () => {
    it('are the records that the database refuses, and no others', async () => {
      const { open, spoil } = enter();
      const store = await open();
      const unspoil = await spoil('bad', 'not this "one"');
      const records = Array.from({ length: 50 }, (_, n) =>
        event({ event: n % 17 === 3 ? 'bad' : 'good', user_id: 'u' }, { client: 'abc' }),
      );
      const dead = records.filter(({ body }) => (body as EventBody).event === 'bad');
      const died = { outcome: 'dead', message: 'not this "one"' };
      expect(await store.write(records)).toEqual(
        records.map((record) => (dead.includes(record) ? died : STORED)),
      );
      const stored = idsOf(records.filter((record) => !dead.includes(record)));
      expect(idsOf(await store.rows({}, ALL)).sort()).toEqual(stored.sort());

      const refused = await store.refused(ALL);
      expect(refused).toEqual(
        dead.map(({ id, body }, n): Refused => ({
          ...{ seq: refused[n]!.seq, received_at: dead[n]!.receivedAt, reason: 'database' },
          ...{ status: 422, message: 'not this "one"', id, type: 'event', project: 'p' },
          ...{ user_id: 'u', body: JSON.stringify(body), isDead: true, client: 'abc' },
        })),
      );
      const seqs = refused.map(({ seq }) => seq);
      const whole = await store.dead([seqs[1]!, 999_999, seqs[0]!]);
      expect(whole).toEqual([
        { seq: seqs[1], record: dead[1] },
        { seq: seqs[0], record: dead[0] },
      ]);
      await unspoil();
      expect(await store.resend([seqs[0]!, 999_999])).toEqual([{ seq: seqs[0], ...STORED }]);
      expect(idsOf(await store.refused(ALL))).toEqual(idsOf(dead.slice(1)));
      expect(idsOf(await store.rows({}, { limit: 1, newest: true }))).toEqual([dead[0]!.id]);
    });

    it('stay while the database refuses them, with its latest words, and go when they are known', async () => {
      const { open, spoil } = enter();
      const store = await open();
      const unspoil = await spoil('bad', 'no');
      const record = event({ event: 'bad' });
      await store.write([record]);
      const { seq } = first(await store.refused(ALL));
      await unspoil();
      const unspoilAgain = await spoil('bad', 'not yet');
      expect(await store.resend([seq])).toEqual([{ seq, outcome: 'dead', message: 'not yet' }]);
      expect(await store.refused(ALL)).toMatchObject([{ seq, message: 'not yet' }]);
      await unspoilAgain();
      await store.write([record]);
      expect(await store.resend([seq])).toEqual([{ seq, ...KNOWN }]);
      expect(await store.refused(ALL)).toEqual([]);
      expect(await store.resend([seq])).toEqual([]);
      expect(await store.resend([])).toEqual([]);
    });

    it('are identifies too, whose profile stays as it was', async () => {
      const { open, spoil } = enter();
      const store = await open();
      const bad = identify({ bad: 1 });
      await spoil(bad.id, 'no');
      const written = await store.write([identify({ a: 1 }), bad, identify({ b: 2 })]);
      expect(outcomesOf(written)).toEqual(['stored', 'dead', 'stored']);
      expect(first(await store.profiles({}, ALL)).properties).toEqual({ a: 1, b: 2 });
      expect(first(await store.refused(ALL))).toMatchObject({ id: bad.id, type: 'identify' });
    });

    it('are the identifies that would make a profile larger than it may be', async () => {
      const store = await open();
      const half = 'x'.repeat(150_000);
      const tooMuch = identify({ second: half });
      expect(await store.write([identify({ first: half })])).toEqual([STORED]);
      expect(outcomesOf(await store.write([event({}), tooMuch]))).toEqual(['stored', 'dead']);
      expect(await store.write([identify({ first: 'short' })])).toEqual([STORED]);
      expect(first(await store.profiles({}, ALL)).properties).toEqual({ first: 'short' });
      const { id, message, seq } = first(await store.refused(ALL));
      expect({ id, message }).toEqual({
        id: tooMuch.id,
        message: expect.stringContaining('a profile may have 262,144 characters at the most'),
      });
      expect(await store.resend([seq])).toEqual([{ seq, ...STORED }]);
    });
  });

  describe(`the profiles of ${name}`, () => {
    it('are merged one level deep', async () => {
      const store = await open();
      await store.write([
        identify({ plan: { name: 'free', seats: 1 }, city: 'Bern', old: 1 }, { receivedAt: at(1) }),
        identify({}, { receivedAt: at(2) }, { user_id: 'empty' }),
      ]);
      await store.write([
        identify({ plan: { name: 'pro' }, old: null }, { calledAt: at(3), receivedAt: at(4) }),
      ]);
      expect(await store.profiles({}, ALL)).toEqual([
        {
          ...{ project: 'p', user_id: 'empty', properties: {}, set_at: {} },
          ...{ created_at: at(2), updated_at: at(2) },
        },
        {
          ...{ project: 'p', user_id: 'u' },
          properties: { plan: { name: 'pro' }, city: 'Bern', old: null },
          set_at: { plan: at(3), city: at(0), old: at(3) },
          ...{ created_at: at(1), updated_at: at(4) },
        },
      ]);
    });

    it.each([
      ['in one batch', true],
      ['one by one', false],
    ])('have of each property what the latest call said: %s', async (_, isOneBatch) => {
      const store = await open();
      const records = [
        identify({ a: 'third', b: 'third' }, { calledAt: at(3) }),
        identify({ a: 'first', b: 'first', c: 'first' }, { calledAt: at(1) }),
        identify({ b: 'fourth', c: 'fourth' }, { calledAt: at(4) }),
        identify({ c: 'second', d: 'second' }, { calledAt: at(2) }),
        identify({ d: 'second, later' }, { calledAt: at(2) }),
      ];
      if (isOneBatch) await store.write(records);
      else for (const record of records) await store.write([record]);
      const { properties, set_at } = first(await store.profiles({}, ALL));
      expect(properties).toEqual({ a: 'third', b: 'fourth', c: 'fourth', d: 'second, later' });
      expect(set_at).toEqual({ a: at(3), b: at(4), c: at(4), d: at(2) });
    });

    it('are not changed by an identify that is known', async () => {
      const store = await open();
      const [one, two] = [identify({ a: 1 }), identify({ a: 2 })];
      await store.write([one, two]);
      expect(await store.write([{ ...one, receivedAt: at(50) }, one])).toEqual([KNOWN, KNOWN]);
      const { properties, updated_at } = first(await store.profiles({}, ALL));
      expect({ properties, updated_at }).toEqual({ properties: { a: 2 }, updated_at: at(0) });
    });

    it('lose no property when several processes write of the same users', async () => {
      const { open } = enter();
      const stores = [await open(), await open(), await open()];
      const users = ['a', 'b', 'c', 'd'];
      const writes = Array.from({ length: 30 }, (_, n) => {
        // Each in another order, and so a deadlock, if one waits for the other.
        const ordered = n % 2 ? users : [...users].reverse();
        return stores[n % 3]!.write(
          ordered.map((user_id) => identify({ [`p${n}`]: n, last: n }, {}, { user_id })),
        );
      });
      await Promise.all(writes);
      const profiles = await stores[0]!.profiles({}, ALL);
      expect(profiles.map(({ user_id }) => user_id)).toEqual(users);
      for (const { properties } of profiles) expect(Object.keys(properties)).toHaveLength(31);
    });

    it('are read by project and user, in pages', async () => {
      const store = await open();
      const places = ['Z', 'a', 'b', 'é', '😀', '\uffee'];
      await store.write(
        ['q', 'p'].flatMap((project) =>
          places.map((user_id) => identify({}, {}, { project, user_id })),
        ),
      );
      const inOrder = ['Z', 'a', 'b', 'é', '\uffee', '😀']; // by bytes of UTF-8
      const all = await store.profiles({}, ALL);
      expect(all.map(({ project, user_id }) => [project, user_id])).toEqual(
        ['p', 'q'].flatMap((project) => inOrder.map((user_id) => [project, user_id])),
      );
      for (let n = 0; n < all.length; n += 3) {
        const page = { after: all[n - 1], limit: 3 };
        expect(await store.profiles({}, page)).toEqual(all.slice(n, n + 3));
      }
      expect(await store.profiles({ project: 'q' }, ALL)).toEqual(all.slice(6));
      expect(await store.profiles({ project: 'q', user_id: 'a' }, ALL)).toEqual([all[7]]);
      expect(await store.profiles({ user_id: 'nobody' }, ALL)).toEqual([]);
    });
  });

  describe(`the feed of ${name}`, () => {
    it('is read in pages, forwards and backwards', async () => {
      const store = await open();
      await store.write(Array.from({ length: 10 }, () => event()));
      const rows = await store.rows({}, ALL);
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

    it('never has a row behind a place that was read, while several processes write', async () => {
      const { open } = enter();
      const stores = [await open(), await open(), await open()];
      const reader = await open();
      let isDone = false;
      const writing = Promise.all(
        stores.map(async (store) => {
          for (let n = 0; n < 40; n++)
            await store.write(Array.from({ length: (n % 30) + 1 }, () => event()));
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

    it('is told to those who follow: of each process, of rows and of what was refused', async () => {
      const { open } = enter();
      const [store, other] = [await open(), await open()];
      const [told, stopped] = [vi.fn(), vi.fn()];
      store.follow(stopped)();
      const stop = store.follow(told);
      const isTold = async () => {
        await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 10_000 });
        told.mockClear();
      };
      await store.write([event()]);
      await isTold();
      await other.write([event()]);
      await isTold();
      await other.refuse([refusal()]);
      await isTold();
      stop();
      expect(stopped).not.toHaveBeenCalled();
    });
  });

  describe(`the rows of ${name}`, () => {
    it('are found by what they are', async () => {
      const store = await open();
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

    it('are found by any text of the body, whatever its case, and none stands for another', async () => {
      const store = await open();
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

    it('are counted by project and type', async () => {
      const store = await open();
      expect(await store.counts()).toEqual([]);
      await store.write([event(), event(), identify({}), event({ project: 'a' })]);
      await store.write([event({ project: 'a' })]);
      expect(await store.counts()).toEqual([
        { project: 'a', type: 'event', rows: 2 },
        { project: 'p', type: 'event', rows: 2 },
        { project: 'p', type: 'identify', rows: 1 },
      ]);
    });

    it('expire by their age, some at a time, and so does what was refused', async () => {
      const store = await open();
      const ages = [5, 1, 9, 2, 3];
      await store.write(ages.map((age) => event({}, { id: `at ${age}`, receivedAt: at(age) })));
      await store.refuse([refusal({ received_at: at(4) }), refusal({ received_at: at(6) })]);
      expect(await store.expire(at(5), 2)).toBe(2);
      expect(idsOf(await store.rows({}, ALL))).toEqual(['at 5', 'at 9', 'at 3']);
      expect(await store.expire(at(5), 2)).toBe(1);
      expect(await store.expire(at(5), 2)).toBe(0);
      expect(idsOf(await store.rows({}, ALL))).toEqual(['at 5', 'at 9']);
      expect(await store.counts()).toEqual([{ project: 'p', type: 'event', rows: 2 }]);
      expect((await store.refused(ALL)).map(({ received_at }) => received_at)).toEqual([at(6)]);
    });

    it('of a user are erased, with the profile and what was refused of that user', async () => {
      const { open, spoil } = enter();
      const store = await open();
      await spoil('bad', 'no');
      const many = Array.from({ length: 2_100 }, () => event({ user_id: 'gone "1"' }));
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
      expect(await store.erase('p', 'gone "1"')).toBe(2_101);
      expect(await store.erase('p', 'gone "1"')).toBe(0);
      const left = await store.rows({}, ALL);
      expect(left.map(({ project, user_id }) => [project, user_id])).toEqual([
        ['q', 'gone "1"'],
        ['p', 'stays'],
        ['p', 'stays'],
      ]);
      const profiles = await store.profiles({}, ALL);
      expect(profiles.map(({ user_id }) => user_id)).toEqual(['stays']);
      expect((await store.refused(ALL)).map(({ message }) => message)).toEqual([
        'of another project',
        'of another user',
      ]);
      expect(await store.counts()).toEqual([
        { project: 'p', type: 'event', rows: 1 },
        { project: 'p', type: 'identify', rows: 1 },
        { project: 'q', type: 'event', rows: 1 },
      ]);
    });

    it('are all gone when the store is cleared, and their places are not given again', async () => {
      const store = await open();
      await store.write([event(), identify({})]);
      await store.refuse([refusal()]);
      const { seq } = first(await store.rows({}, { limit: 1, newest: true }));
      const { seq: place } = first(await store.refused(ALL));
      await store.clear();
      expect(await store.rows({}, ALL)).toEqual([]);
      expect(await store.profiles({}, ALL)).toEqual([]);
      expect(await store.refused(ALL)).toEqual([]);
      expect(await store.counts()).toEqual([]);
      await store.write([event()]);
      await store.refuse([refusal()]);
      expect(first(await store.rows({}, ALL)).seq).toBeGreaterThan(seq);
      expect(first(await store.refused(ALL)).seq).toBeGreaterThan(place);
    });
  });

  describe(`what ${name} keeps of the refused`, () => {
    it('is given back as it came, in pages', async () => {
      const store = await open();
      const given = [
        refusal({ reason: 'token', status: 401, message: 'no "token"\ud800', client: 'abc' }),
        refusal({ id: 'i', type: 'event', project: 'p', user_id: 'u', body: '{"a":"\0"}' }),
        refusal({ received_at: at(3), body: '' }),
      ];
      await store.refuse(given);
      await store.refuse([]);
      const all = await store.refused(ALL);
      expect(all.map(({ seq: _, ...refused }) => refused)).toEqual([
        { ...given[0], message: 'no "token"\ufffd' },
        { ...given[1], body: '{"a":"\ufffd"}' },
        given[2],
      ]);
      const [one, two, three] = all;
      expect(await store.refused({ limit: 1, after: one!.seq })).toEqual([two]);
      expect(await store.refused({ limit: 2, newest: true })).toEqual([three, two]);
      expect(await store.refused({ ...ALL, before: two!.seq })).toEqual([one]);
    });

    it('is the newest of it, with a message and a body that are cut', async () => {
      const store = await open();
      const flood = Array.from({ length: 1_500 }, (_, n) => refusal({ body: `${n}` }));
      await Promise.all([store.refuse(flood.slice(0, 700)), store.refuse(flood.slice(700))]);
      const all = await store.refused(ALL);
      expect(all.map(({ body }) => Number(body))).toEqual(
        Array.from({ length: 1_000 }, (_, n) => n + 500),
      );
      const long = refusal({ message: 'm'.repeat(100_000), body: 'x'.repeat(100_000) });
      await store.refuse([long]);
      const [newest] = await store.refused({ limit: 1, newest: true });
      expect(newest!.message).toHaveLength(4_096);
      expect(newest!.body).toHaveLength(4_096);
      expect(await store.adopt({ refused: [long] })).toBe(0);
      expect(await store.refused(ALL)).toHaveLength(1_000);
    });

    it('has the dead records apart, which no flood of others pushes out', async () => {
      const store = await open();
      const letter = (n: number, tags = {}) =>
        refusal({ reason: 'database', body: `dead ${n}`, record: event({ tags }) });
      await store.refuse(Array.from({ length: 100 }, (_, n) => letter(n)));
      await store.refuse(Array.from({ length: 1_200 }, () => refusal()));
      const dead = async () => (await store.refused(ALL)).filter(({ isDead }) => isDead);
      expect(await dead()).toHaveLength(100);
      const large = 'x'.repeat(1_048_576);
      for (let n = 0; n < 8; n++)
        await store.refuse(Array.from({ length: 8 }, (_, i) => letter(100 + 8 * n + i, { large })));
      const bodies = (await dead()).map(({ body }) => body);
      expect(bodies).toHaveLength(63);
      expect(bodies.at(-1)).toBe('dead 163');
    });
  });

  describe(`what ${name} takes over from another store`, () => {
    const held = () => {
      const rows = [event({ user_id: 'u' }, { client: 'abc' }), identify({ a: 'row' })].map(
        (record, n) => ({ ...rowOf(record), arrivals: n + 2 }),
      );
      const profile = {
        ...{ project: 'p', user_id: 'u', properties: { a: 1, b: 1 } },
        ...{ set_at: { a: at(10), b: at(10) }, created_at: at(2), updated_at: at(10) },
      };
      const refused = [refusal(), refusal({ id: 'i', body: 'b', record: event({}, { id: 'i' }) })];
      return { rows, profiles: [profile], refused };
    };

    it('is kept as it is, and taken over once', async () => {
      const store = await open();
      const all = held();
      expect(await store.adopt(all)).toBe(4);
      const look = async () => ({
        rows: await store.rows({}, ALL),
        profiles: await store.profiles({}, ALL),
        refused: await store.refused(ALL),
        counts: await store.counts(),
      });
      const seen = await look();
      expect(withoutSeq(seen.rows)).toEqual(all.rows);
      expect(seen.profiles).toEqual(all.profiles);
      expect(seen.refused.map(({ id, isDead }) => [id, isDead])).toEqual([
        [undefined, undefined],
        ['i', true],
      ]);
      expect((await store.dead(seen.refused.map(({ seq }) => seq)))[0]!.record.id).toBe('i');
      expect(seen.counts.map(({ rows }) => rows)).toEqual([1, 1]);
      expect(await store.adopt(all)).toBe(0);
      expect(await look()).toEqual(seen);
      expect(await store.adopt({})).toBe(0);
    });

    it('leaves what is here, and of each property what the later call said', async () => {
      const store = await open();
      const all = held();
      const own = { ...event(), id: all.rows[0]!.id };
      await store.write([
        own,
        identify({ a: 'earlier' }, { calledAt: at(9), receivedAt: at(1) }),
        identify({ b: 'later' }, { calledAt: at(11), receivedAt: at(12) }),
      ]);
      expect(await store.adopt(all)).toBe(3);
      expect((await store.rows({}, ALL))[0]).toMatchObject(rowOf(own));
      expect(await store.profiles({}, ALL)).toEqual([
        {
          ...{ project: 'p', user_id: 'u', properties: { a: 1, b: 'later' } },
          ...{ set_at: { a: at(10), b: at(11) }, created_at: at(1), updated_at: at(12) },
        },
      ]);
    });

    it('has a refusal for a profile that would be too large, and the others all the same', async () => {
      const store = await open();
      const half = 'x'.repeat(150_000);
      await store.write([identify({ first: half })]);
      const times = { created_at: at(2), updated_at: at(10) };
      const profiles = [
        { project: 'p', user_id: 'a', properties: {}, set_at: {}, ...times },
        {
          ...{ project: 'p', user_id: 'u', properties: { second: half } },
          ...{ set_at: { second: at(10) }, ...times },
        },
        { project: 'p', user_id: 'z', properties: {}, set_at: {}, ...times },
      ];
      expect(await store.adopt({ profiles })).toBe(0);
      expect(await store.adopt({ profiles })).toBe(0); // and refused once
      const kept = await store.profiles({}, ALL);
      expect(kept.map(({ user_id, properties }) => [user_id, Object.keys(properties)])).toEqual([
        ['a', []],
        ['u', ['first']],
        ['z', []],
      ]);
      const words = expect.stringContaining('a profile may have 262,144 characters at the most');
      const refused = await store.refused(ALL);
      expect(refused).toMatchObject([{ project: 'p', user_id: 'u', message: words }]);
    });

    it('has dead letters for the rows that the database refuses', async () => {
      const { open, spoil } = enter();
      const store = await open();
      await spoil('bad', 'no');
      const rows = ['a', 'bad', 'c'].map((word) => rowOf(event({ event: word })));
      for (const added of [3, 0]) expect(await store.adopt({ rows })).toBe(added);
      expect((await store.rows({}, ALL)).map((row) => row.event)).toEqual(['a', 'c']);
      expect(await store.refused(ALL)).toMatchObject([{ id: rows[1]!.id, isDead: true }]);
    });
  });

  it(`${name} says that it is closed`, async () => {
    const store = await open();
    await store.close();
    await expect(store.write([event()])).rejects.toThrow(/closed|not open|end/);
  });
};
