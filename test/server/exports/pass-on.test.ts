import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startPassingOn, type PassOnOptions } from '../../../src/server/exports/pass-on.js';
import { createTell, type Hooks, type ServerError } from '../../../src/server/hooks.js';
import type { Incoming } from '../../../src/server/incoming.js';
import type { Store } from '../../../src/server/store/port.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import { fakeTime, pass, passUntil } from '../../support/clock.js';
import { createFakeService, type Got } from '../support/fake-service.js';
import { checked } from '../support/records.js';

let made = 0;
/** An event of this name, from a client of its own or from this one. */
const named = (event: string, user?: string, sender = `client ${made}`): Incoming =>
  checked(
    {
      ...{ id: `record-${++made}`, type: 'event' },
      body: { project: 'p', channel: 'c', event, ...(user && { user_id: user }) },
    },
    { sender },
  );
const identify = (user: string, sender = `client ${made}`): Incoming =>
  checked(
    {
      ...{ id: `identify-${++made}`, type: 'identify' },
      body: { project: 'p', user_id: user, properties: {} },
    },
    { sender },
  );
const times = (count: number, make: (n: number) => Incoming): Incoming[] =>
  Array.from({ length: count }, (_, n) => make(n));
const isBad = (name: string) => name.startsWith('bad');

interface World {
  hold?: boolean;
  options?: Partial<PassOnOptions>;
  /** In place of parts of the store. */
  store?: (store: Store) => Partial<Store>;
}

/** A store whose rows are passed on to a service that is a function, in a time that passes as the test says. */
const createWorld = async ({ hold = false, options, store: changed }: World = {}) => {
  fakeTime('setInterval', 'clearInterval');
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  const service = createFakeService({ hold });
  const memory = createLibsqlStore({ path: ':memory:' });
  const store = { ...memory, ...changed?.(memory) };
  const errors: ServerError[] = [];
  const metrics: Parameters<NonNullable<Hooks['onMetric']>>[] = [];
  const start = () =>
    startPassingOn({
      store,
      options: {
        ...{ baseUrl: 'http://service.test', token: 'secret', fetch: service.fetch as never },
        ...options,
      },
      tell: createTell({
        onError: (error) => void errors.push(error),
        onMetric: (...metric) => void metrics.push(metric),
      }),
    });
  let passing = start();
  await pass(0);
  const stop = async (): Promise<void> => {
    const stopped = passing.stop();
    await pass(60_000); // no request takes longer
    await stopped;
  };
  onTestFinished(async () => {
    await stop();
    await memory.close();
  });
  const target = async () => (await memory.progress.targets())[0]!;
  return {
    ...{ service, store: memory, errors, metrics, stop, target },
    passing: () => passing,
    restart: async () => {
      await stop();
      passing = start();
      await pass(0);
    },
    put: async (records: readonly Incoming[]) => {
      const written = memory.write(records);
      await pass(0);
      await written;
    },
    /** How many rows are still to be sent. */
    left: async () => {
      const { place, parked } = await target();
      return parked + (await memory.rows({}, { after: place, limit: 1_000 })).length;
    },
    dead: async () => (await memory.progress.dead('service', 0, 100)).map(({ message }) => message),
  };
};

const SOON = 2_500;

describe('passing on', () => {
  it('sends each row once, in a request of its own, and keeps it', async () => {
    const { service, store, put, left } = await createWorld();
    await put(times(300, (n) => named(`e${n}`)));
    await pass(SOON);
    expect(service.got).toHaveLength(300);
    expect(new Set(service.names())).toHaveLength(300);
    expect(service.got[0]).toMatchObject({
      path: '/v1/event',
      headers: {
        authorization: 'Bearer secret',
        'idempotency-key': expect.stringMatching(/^record-/),
      },
    });
    expect(await left()).toBe(0);
    expect(await store.rows({}, { limit: 1_000 })).toHaveLength(300);
  });

  it('leaves no more rows in doubt than requests may be under way, if the database fails', async () => {
    let isAway = false;
    const { service, errors, put, left } = await createWorld({
      options: { concurrency: 4 },
      store: ({ progress }) => ({
        progress: {
          ...progress,
          parked: {
            ...progress.parked,
            step: async (...args) => {
              if (isAway) throw new Error('gone');
              return progress.parked.step(...args);
            },
          },
        },
      }),
    });
    isAway = true;
    await put(times(40, (n) => named(`e${n}`)));
    await pass(60_000);
    expect(service.got).toHaveLength(4);
    expect(errors).toEqual([{ kind: 'export', message: 'service: gone' }]);
    isAway = false;
    await pass(10_000);
    expect(service.got).toHaveLength(40);
    expect(await left()).toBe(0);
  });

  it('keeps the order of a user through a failure', async () => {
    const { service, put } = await createWorld();
    let failures = 2;
    service.fails(500, { when: (name) => name === 'identify a' && failures-- > 0 });
    await put([identify('a', 'x'), named('second', 'a', 'x'), named('other', 'b', 'x')]);
    await pass(60_000);
    const others = service.names().filter((name) => name !== 'identify a');
    expect(others).toEqual(['other', 'second']);
    expect(service.names().at(-1)).toBe('second');
    expect(service.got).toHaveLength(5);
  });

  it.each([
    [401, 'setup'],
    [0, 'unreachable'],
  ])(
    'keeps its place while the service answers %i, says so once, and goes on',
    async (status, kind) => {
      const { service, errors, put, left, target } = await createWorld();
      const heal = service.fails(status);
      await put(times(100, (n) => named(`e${n}`)));
      await pass(120_000);
      expect(service.got.length).toBeLessThan(50);
      expect(await target()).toMatchObject({
        ...{ place: 0, parked: 0 },
        message: status ? `the service answers ${status}` : 'the service does not answer',
      });
      expect(errors.map((error) => error.kind)).toEqual([kind]);
      heal();
      await pass(60_000);
      expect(await left()).toBe(0);
      expect(await target()).not.toHaveProperty('message');
    },
  );

  it.each([403, 500])('lets one row answered %i hold up nobody', async (status) => {
    const { service, put, left } = await createWorld();
    await put([named('first')]);
    await pass(SOON);
    service.fails(status, { when: isBad });
    await put([named('bad')]);
    await pass(120_000);
    expect(service.got.length).toBeGreaterThan(5);
    expect(service.got.length).toBeLessThan(25);
    for (let n = 0; n < 30; n++) {
      await put([named(`good ${n}`)]);
      await pass(1_250);
      expect(await left()).toBe(1);
    }
    expect(service.names().filter((name) => name.startsWith('good'))).toHaveLength(30);
  });

  it('sends all within half the time for which the service was away', async () => {
    const { service, put, left } = await createWorld();
    const heal = service.fails(503);
    await put(times(300, (n) => named(`e${n}`)));
    await pass(3_000);
    heal();
    await pass(1_750);
    expect(await left()).toBe(0);
    expect(service.got.length).toBeLessThan(320);
  });

  it.each([400, 409, 413, 422])(
    'keeps a row that the service refuses with %i, and goes on',
    async (status) => {
      const { service, put, left, dead } = await createWorld();
      service.fails(status, { when: isBad, body: { success: false, message: 'no such thing' } });
      await put([named('first')]);
      await pass(SOON);
      await put([named('bad', 'a', 'x'), named('good', 'a', 'x')]);
      await pass(SOON);
      expect(await dead()).toEqual([`rejected ${status}: no such thing`]);
      expect(service.names()).toEqual(['first', 'bad', 'good']);
      expect(await left()).toBe(0);
    },
  );

  it.each([403, 500])(
    'gives up what is too old once it was answered %i, and sends the rest however old it is',
    async (status) => {
      const { service, put, left, dead } = await createWorld({ options: { maxAge: 1_000 } });
      service.fails(status, { when: isBad });
      const receivedAt = new Date(0).toISOString();
      await put([
        { ...named('old'), receivedAt },
        { ...named('bad'), receivedAt },
      ]);
      await pass(SOON);
      expect(await dead()).toEqual([`expired ${status}`]);
      expect(service.names()).toContain('old');
      expect(await left()).toBe(0);
    },
  );

  it('sends the rows of others while one client sends what the service refuses to take', async () => {
    const { service, put, left } = await createWorld();
    const heal = service.fails(500, { when: isBad });
    for (let second = 0; second < 15; second++) {
      await put(times(50, () => named('bad', undefined, 'stranger')));
      await put([named(`good ${second}`, undefined, `visitor ${second % 7}`)]);
      await pass(1_000);
      expect(service.names()).toContain(`good ${second}`);
    }
    const asked = () => service.names().filter((name) => name === 'bad').length;
    expect(asked()).toBeLessThan(25);
    const before = service.got.length;
    heal();
    await pass(60_000);
    expect(service.got.length - before).toBe(750);
    expect(await left()).toBe(0);
  });

  it('sends the rows of others at once while a client sends more than the service takes of it', async () => {
    const { service, put, left } = await createWorld({ options: { concurrency: 8 } });
    let isSlow = true;
    service.when(({ name, answer }: Got) => {
      if (name === 'slow' && isSlow) setTimeout(answer, 9_000);
      return name === 'slow' && isSlow;
    });
    const waits: number[] = [];
    const putAt = new Map<string, number>();
    service.when(({ headers, answer }) => {
      waits.push(Date.now() - putAt.get(headers['idempotency-key']!)!);
      setTimeout(answer, 20);
      return true;
    });
    for (let second = 0; second < 10; second++) {
      await put(times(20, () => named('slow', undefined, 'stranger')));
      for (let n = 0; n < 20; n++) {
        const record = named('good', undefined, `visitor ${n}`);
        putAt.set(record.id, Date.now());
        await put([record]);
        await pass(50);
      }
    }
    await pass(1_000);
    expect(waits).toHaveLength(200);
    expect(Math.max(...waits)).toBeLessThan(1_500);
    expect(waits.filter((ms) => ms > 600).length).toBeLessThan(20);
    const slow = () => service.names().filter((name) => name === 'slow').length;
    // It has a quarter of the 8 requests all the time.
    expect(slow()).toBeGreaterThanOrEqual(2);
    isSlow = false;
    putAt.clear();
    await pass(60_000);
    expect([slow(), await left()]).toEqual([200, 0]);
  });

  it('tries what has failed again though there are always rows that have not', async () => {
    const { service, put } = await createWorld({ options: { concurrency: 2 } });
    let failures = 1;
    service.when(({ name, answer }) => {
      const status = name === 'once' && failures-- > 0 ? 500 : 200;
      setTimeout(() => answer(status), 50);
      return true;
    });
    await put([named('first'), named('once'), ...times(800, (n) => named(`e${n}`))]);
    await pass(15_000);
    expect(service.names().filter((name) => name === 'once')).toHaveLength(2);
    expect(service.got.length).toBeLessThan(700);
  });

  it('tries at once what waits for itself when somebody says so', async () => {
    const { service, passing, put, left } = await createWorld();
    const heal = service.fails(500, { when: isBad });
    await put([named('good')]);
    await pass(SOON);
    await put([named('bad')]);
    await pass(300_000);
    heal();
    passing().tryNow();
    await pass(1_000);
    expect(await left()).toBe(0);
  });

  it('tries at once what waits for the service when somebody says so', async () => {
    const { service, passing, put, left } = await createWorld();
    const heal = service.fails(503, { headers: { 'retry-after': '3000' } });
    await put([named('e')]);
    await pass(10_000);
    heal();
    passing().tryNow();
    await pass(1_000);
    expect(await left()).toBe(0);
  });

  it('counts as tries only what the service was asked', async () => {
    const { service, metrics, put } = await createWorld();
    const heal = service.fails(503);
    for (let n = 0; n < 20; n++) await put(times(5, () => named('e', undefined, `c${n}`)));
    await pass(30_000);
    const sumOf = (outcome: string) =>
      metrics
        .filter(([name, , labels]) => name === 'records' && labels?.['outcome'] === outcome)
        .reduce((sum, [, value]) => sum + value, 0);
    expect(service.got.length).toBeLessThan(50);
    expect(sumOf('retry')).toBe(service.got.length);
    heal();
    await pass(30_000);
    expect(sumOf('delivered')).toBe(100);
  });

  it('finishes what is under way when it is stopped, and sends the rest when it starts again', async () => {
    const { service, put, passing, restart, left } = await createWorld({
      hold: true,
      options: { concurrency: 2 },
    });
    await put(times(20, (n) => named(`e${n}`, `u${n}`)));
    await pass(SOON);
    expect(service.got).toHaveLength(2);
    const stopped = passing().stop();
    await pass(1);
    service.got.forEach(({ answer }) => answer());
    await pass(100);
    await stopped;
    expect(service.got).toHaveLength(2);
    expect(await left()).toBe(18);
    service.open();
    await restart();
    await pass(SOON);
    expect(service.got).toHaveLength(20);
  });

  it('keeps the order of a user and client over a restart', async () => {
    const { service, put, restart } = await createWorld();
    await put([named('first')]);
    await pass(SOON);
    const heal = service.fails(500, { when: (name) => name === 'identify a' });
    const first = identify('a', 'x');
    const second = identify('a', 'x');
    const late = named('late', 'a', 'x');
    await put([first, named('early', 'a', 'x')]);
    await pass(500);
    await restart();
    await put([second, late, identify('a', 'y')]);
    await pass(500);
    heal();
    await pass(120_000);
    const ids = service.got.map(({ headers }) => headers['idempotency-key']);
    expect(ids.lastIndexOf(first.id)).toBeLessThan(ids.indexOf(second.id));
    expect(ids.lastIndexOf(second.id)).toBeLessThan(ids.indexOf(late.id));
  });

  it('keeps the order of a user when a row comes while an identify before it is tried again', async () => {
    const { service, put } = await createWorld();
    await put([named('first')]);
    await pass(SOON);
    const tries: Got[] = [];
    let isHeld = false;
    let isOver = false;
    service.when((got) => {
      if (got.name !== 'identify a' || isOver) return false;
      tries.push(got);
      if (!isHeld) got.answer(500);
      return true;
    });
    const [first, second] = [identify('a', 'x'), identify('a', 'x')];
    await put([first]);
    await passUntil(() => tries.length === 1);
    isHeld = true;
    await passUntil(() => tries.length === 2);
    await put([second]);
    await pass(1_000);
    isHeld = false;
    tries[1]!.answer(500);
    await pass(30_000);
    isOver = true;
    await pass(120_000);
    const ids = service.got.map(({ headers }) => headers['idempotency-key']);
    expect(ids.lastIndexOf(first.id)).toBeLessThan(ids.indexOf(second.id));
    expect(ids).toContain(second.id);
  });

  it('lets the events behind an identify go that has failed three times, and no identify', async () => {
    const { service, put, left } = await createWorld();
    await put([named('first')]);
    await pass(SOON);
    let tries = 0;
    const heal = service.fails(500, { when: (name) => name === 'identify a' && ++tries > 0 });
    await put([
      identify('a', 'x'),
      named('early', 'a', 'x'),
      identify('a', 'x'),
      named('late', 'a', 'x'),
    ]);
    await passUntil(() => service.names().includes('early'), 60_000);
    expect(tries).toBe(3);
    await pass(60_000);
    expect(service.names()).not.toContain('late');
    expect(new Set(service.got.map(({ headers }) => headers['idempotency-key']))).toHaveLength(3);
    heal();
    await pass(60_000);
    expect(service.names().at(-1)).toBe('late');
    expect(await left()).toBe(0);
  });

  it('sends nothing of a user who was erased, from its hand and of what is parked', async () => {
    const { service, store, put, left } = await createWorld();
    await put([named('first')]);
    await pass(SOON);
    const healStranger = service.fails(500, { when: isBad });
    await put([
      ...times(40, () => named('bad', 'gone', 'x')),
      ...times(10, () => named('bad', 'stays', 'x')),
    ]);
    await pass(10_000);
    const heal = service.fails(503);
    await put(times(20, (n) => named(`e${n}`, n % 2 ? 'gone' : 'stays')));
    await pass(5_000);
    const erasing = store.erase({ project: 'p', user_id: 'gone' });
    await pass(100);
    expect(await erasing).toBe(50);
    const before = service.got.length;
    heal();
    healStranger();
    await pass(60_000);
    const after = service.got.slice(before);
    expect(after.map(({ body }) => body['user_id'])).not.toContain('gone');
    expect(new Set(after.map(({ name }) => name))).toHaveLength(11);
    expect(await left()).toBe(0);
  });

  it('begins with the first row that comes after it was set up', async () => {
    const { service, store, put, stop, restart } = await createWorld();
    await stop();
    await store.progress.forget('service');
    await put([named('before')]);
    await restart();
    await put([named('after')]);
    await pass(SOON);
    expect(service.names()).toEqual(['after']);
  });

  it('goes on with new rows after the store was set back', async () => {
    const { service, store, put, stop, restart } = await createWorld();
    await stop();
    const lock = (await store.progress.take('service', 'me'))!;
    await store.progress.keep(lock, { place: 1_000 });
    await store.progress.release(lock);
    await restart();
    await put([named('after')]);
    await pass(SOON);
    expect(service.names()).toEqual(['after']);
  });
});
