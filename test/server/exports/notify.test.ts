import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { EventBody } from '../../../src/interface/bodies.js';
import { createTell } from '../../../src/server/hooks.js';
import { startNotify } from '../../../src/server/exports/notify.js';
import { parseNotifyAddress } from '../../../src/server/exports/notify-address.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import type { ServerError, Store } from '../../../src/service.js';
import { tempFolder } from '../../support/temp-folder.js';
import { rowOf } from '../store/contract/scenario.js';
import { incomingEvent } from '../support/incoming.js';

const MINUTE = 60_000;
const turn = setImmediate;
/** The store waits for its next looks at erasures, and at rows to sum and to merge. */
const OF_STORE = 3;
const ADDRESS = parseNotifyAddress('https://hooks.example/secret-path')!;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    now: Date.UTC(2026, 2, 1, 12),
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface Received {
  id: string;
  count: number;
  /** Whether it was answered with 200. */
  isTaken: boolean;
  at: number;
  data: { event?: string; last?: { description?: string }; others?: number; events?: unknown[] };
}

const hang = <Value>(): Promise<Value> => new Promise(() => {});

/** A store, a target that answers as it is told, and processes that notify it. */
const enter = () => {
  const path = join(tempFolder(), 'service.db');
  const store = createLibsqlStore({ path });
  onTestFinished(() => store.close());
  const received: Received[] = [];
  const errors: ServerError[] = [];
  const numbers: string[] = [];
  let running = 0;
  let made = 0;

  const target: { answer: (asked: { body: string }) => Promise<Response> | Response } = {
    answer: () => new Response('ok'),
  };

  /** Waits until each process waits for its next moment. */
  const settled = async () => {
    for (
      let turns = 0;
      turns < 5;
      turns = vi.getTimerCount() === running + OF_STORE ? turns + 1 : 0
    )
      await new Promise((resolve) => turn(resolve));
  };
  const pass = async (ms: number, stepMs = 1_000) => {
    for (let left = ms; left > 0; left -= stepMs) {
      vi.advanceTimersByTime(Math.min(left, stepMs));
      await settled();
    }
  };

  const start = async () => {
    let isDead = false;
    const whileAlive =
      <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
      (...args: Args) =>
        isDead ? hang<Result>() : call(...args);
    const { progress } = store;
    const mortal: Pick<Store, 'rows' | 'follow' | 'progress'> = {
      rows: whileAlive(store.rows),
      follow: store.follow,
      progress: {
        ...progress,
        take: whileAlive(progress.take),
        keep: whileAlive(progress.keep),
        release: whileAlive(progress.release),
      },
    };
    running += 1;
    const stop = startNotify(
      {
        addresses: [ADDRESS],
        secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`],
        events: ['shop/orders/*'],
        publicUrl: undefined,
      },
      {
        store: mortal,
        tell: createTell({
          onError: (error) => errors.push(error),
          onMetric: (name, value, labels) =>
            numbers.push(`${name} ${value} ${labels?.['outcome']}`),
        }),
      },
    );
    await settled();
    const end = async () => {
      if (isDead) return;
      running -= 1;
      isDead = true;
    };
    onTestFinished(async () => {
      if (isDead) return;
      running -= 1;
      await stop();
    });
    return {
      stop: async () => {
        await stop();
        await end();
      },
      /** Ends it without a word to anybody: nothing it still does reaches the store. */
      kill: async () => {
        await end();
        vi.advanceTimersByTime(15_000); // its last wait ends in a call that is never answered
        await settled();
        const database = new Database(path);
        database.exec('UPDATE targets SET until = 0'); // as if its lock had run out
        database.close();
      },
    };
  };

  vi.stubGlobal(
    'fetch',
    async (_: string, { headers, body }: { headers: Headers; body: string }) => {
      const { data } = JSON.parse(body) as { data: Received['data'] & { count: number } };
      const id = (headers as unknown as Record<string, string>)['webhook-id']!;
      const one = { id, count: data.count, isTaken: false, at: Date.now(), data };
      received.push(one);
      const answer = await target.answer({ body });
      one.isTaken = answer.status === 200;
      return answer;
    },
  );

  return {
    ...{ store, target, received, errors, numbers, start, pass, settled },
    taken: () => received.filter(({ isTaken }) => isTaken),
    /** Stores events that ask for a notification. */
    ring: async (
      names: readonly string[],
      body: Partial<EventBody> = {},
      receivedAt = Date.now(),
    ) => {
      const records = names.map((event) =>
        incomingEvent(
          { id: `id-${++made}`, receivedAt: new Date(receivedAt).toISOString() },
          { project: 'shop', channel: 'orders', event, notify: true, ...body },
        ),
      );
      await store.write(records);
      for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => turn(resolve));
      await settled();
      return records;
    },
    message: async () => (await store.progress.targets())[0]?.message,
  };
};

const sum = (received: readonly Received[]) => received.reduce((all, { count }) => all + count, 0);
const away = () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};
const many = (count: number, name: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => name(n));

it('tells of the first row at once, and after a minute how many came meanwhile', async () => {
  const { ring, pass, taken, start } = enter();
  await start();
  await ring(['Paid']);
  await pass(200);
  expect(taken().map(({ count }) => count)).toEqual([1]);
  for (let n = 1; n <= 51; n++) {
    await ring(['Paid'], { description: `order ${n}` });
    await pass(1_000);
  }
  expect(taken()).toHaveLength(1);
  await pass(10_000);
  expect(taken().map(({ count }) => count)).toEqual([1, 51]);
  expect(taken()[1]!.data.last!.description).toBe('order 51');
  expect(taken()[1]!.at - taken()[0]!.at).toBeGreaterThanOrEqual(MINUTE);
  await pass(5 * MINUTE);
  expect(taken()).toHaveLength(2);
});

it('counts right and tells nothing twice when the target is away for ten minutes and the process is killed', async () => {
  const { ring, pass, received, taken, start, target, message } = enter();
  const first = await start();
  target.answer = away;
  for (let n = 0; n < 52; n++) {
    await ring(['Paid']);
    await pass(1_150);
  }
  await pass(4 * MINUTE);
  await first.kill();
  await start();
  await pass(5 * MINUTE);
  expect(taken()).toEqual([]);
  expect(received.length).toBeGreaterThan(5);
  // It is the same message each time.
  expect(new Set(received.map(({ id, count }) => `${id} ${count}`)).size).toBe(1);
  expect(await message()).toContain('does not answer: fetch failed: connect ECONNREFUSED');
  target.answer = () => new Response('ok');
  await pass(10 * MINUTE);
  expect(taken().map(({ count }) => count)).toEqual([1, 51]);
  expect(new Set(taken().map(({ id }) => id)).size).toBe(2);
  expect(await message()).toBeUndefined();
});

it('sends the same message again if it is killed before it knows that the message has arrived', async () => {
  const { ring, pass, received, start, target } = enter();
  const first = await start();
  target.answer = () => hang();
  await ring(['Paid', 'Paid', 'Paid']);
  void pass(200); // never settles: the process waits for its answer
  await vi.waitUntil(() => received.length === 1, { interval: 0 });
  await first.kill();
  await ring(['Paid', 'Paid']);
  target.answer = () => new Response('ok');
  await start();
  await pass(2 * MINUTE);
  expect(received.map(({ count }) => count)).toEqual([3, 3, 2]);
  expect(received[1]!.id).toBe(received[0]!.id);
  expect(received[2]!.id).not.toBe(received[0]!.id);
});

it('waits for the answer to a message before it stops, so that the message is not sent again', async () => {
  const { ring, pass, received, start, target } = enter();
  const first = await start();
  let answer!: (response: Response) => void;
  target.answer = () => new Promise((resolve) => (answer = resolve));
  await ring(['Paid']);
  void pass(200); // never settles: the process waits for its answer
  await vi.waitUntil(() => received.length === 1, { interval: 0 });
  const stopped = first.stop();
  answer(new Response('ok'));
  await stopped;
  target.answer = () => new Response('ok');
  await start();
  await ring(['Shipped']);
  await pass(2 * MINUTE);
  expect(received.map(({ data }) => data.event)).toEqual(['Paid', 'Shipped']);
});

it('sends a message of many events again as it was', async () => {
  const { ring, pass, received, start, target, store } = enter();
  const first = await start();
  target.answer = () => hang();
  await ring(many(2_000, (n) => `Name ${n}`));
  void pass(200);
  await vi.waitUntil(() => received.length === 1, { interval: 0 });
  await first.kill();
  await ring(many(30, (n) => `Name ${n}`));
  target.answer = () => new Response('ok');
  const second = await start();
  await pass(5_000);
  await second.kill();
  // What is remembered of them stays small.
  const lock = (await store.progress.take(ADDRESS.name, 'other'))!;
  expect(lock.memo!.length).toBeLessThan(50_000);
  await store.progress.release(lock);
  await start();
  await pass(2 * MINUTE);
  expect(received.map(({ count }) => count)).toEqual([2_000, 2_000, 30]);
  expect(received[1]).toMatchObject({ id: received[0]!.id, data: received[0]!.data });
});

it('tells nothing twice after a kill, where a later row was told before an earlier one', async () => {
  const { ring, pass, taken, start, target } = enter();
  const first = await start();
  await ring(['Paid']);
  await pass(1_000);
  await ring(['Paid']); // waits for its minute
  await ring(['Shipped']);
  await pass(1_000);
  expect(taken().map(({ data }) => data.event)).toEqual(['Paid', 'Shipped']);
  target.answer = away;
  await pass(5 * MINUTE);
  await first.kill();
  target.answer = () => new Response('ok');
  await start();
  await pass(5 * MINUTE);
  expect(taken().map(({ data, count }) => [data.event, count])).toEqual([
    ['Paid', 1],
    ['Shipped', 1],
    ['Paid', 1],
  ]);
});

it('repeats a message as it was, though its rows have become a day old', async () => {
  const { ring, pass, received, taken, start, target } = enter();
  const first = await start();
  target.answer = away;
  await ring(['Paid', 'Paid'], {}, Date.now() - 86_395_000);
  await pass(MINUTE);
  await first.kill();
  target.answer = () => new Response('ok');
  await start();
  await pass(10 * MINUTE);
  expect(taken()).toMatchObject([{ id: received[0]!.id, count: 2 }]);
});

it('begins with a short wait again, once the target has taken a message', async () => {
  const { ring, pass, received, taken, start, target } = enter();
  await start();
  target.answer = away;
  await ring(['Paid']);
  await pass(20 * MINUTE);
  target.answer = () => new Response('ok');
  await pass(10 * MINUTE);
  expect(taken()).toHaveLength(1);
  const before = received.length;
  target.answer = away;
  await ring(['Paid']);
  await pass(5_000);
  expect(received.length).toBeGreaterThan(before + 1);
});

it('tells of a thousand names in a minute in eleven messages at the most', async () => {
  const { ring, pass, taken, start } = enter();
  await start();
  for (let second = 0; second < 60; second++) {
    await ring(many(17, (n) => `Name ${(second * 17 + n) % 1_000}`));
    await pass(1_000);
  }
  await pass(5 * MINUTE);
  expect(sum(taken())).toBe(60 * 17);
  expect(taken().length).toBeLessThanOrEqual(11);
  expect(taken().at(-1)!.data.events).toHaveLength(10);
});

it('sends ten messages a minute at the most, however many names come for however long', async () => {
  const { ring, pass, taken, start } = enter();
  await start();
  for (let round = 0; round < 60; round++) {
    await ring(many(3, (n) => `Name ${round * 3 + n}`));
    await pass(5_000);
  }
  await pass(5 * MINUTE);
  expect(sum(taken())).toBe(180);
  const times = taken().map(({ at }) => at);
  for (const [index, at] of times.entries())
    expect((times[index + 10] ?? Infinity) - at).toBeGreaterThanOrEqual(MINUTE);
});

it('rings for no row that is old, silent, of another event or store, or from before the target', async () => {
  const { ring, pass, received, start, store } = enter();
  await ring(['Before']);
  await start();
  await ring(['Old'], {}, Date.now() - 86_400_001);
  await ring(['Silent'], { notify: false });
  await ring(['Elsewhere'], { channel: 'refunds' });
  const other = incomingEvent(
    { id: 'other', receivedAt: new Date().toISOString() },
    { project: 'shop', channel: 'orders', event: 'Imported', notify: true },
  );
  await store.adopt({ rows: [{ ...rowOf(other), arrivals: 1 }] });
  await pass(2 * MINUTE);
  expect(received).toEqual([]);
  await ring(['Paid']);
  await pass(1_000);
  expect(received.map(({ data }) => data.event)).toEqual(['Paid']);
});

it('goes on where a process before it has stopped', async () => {
  const { ring, pass, taken, start } = enter();
  const first = await start();
  await ring(['Paid']);
  await pass(15_000);
  await first.kill();
  await ring(['Paid', 'Shipped']);
  await start();
  await pass(2 * MINUTE);
  expect(taken().map(({ data, count }) => [data.event, count])).toEqual([
    ['Paid', 1],
    ['Shipped', 1],
    ['Paid', 1],
  ]);
});

it('lets one process at a time send', async () => {
  const { ring, pass, received, start } = enter();
  const first = await start();
  await start();
  await ring(['Paid']);
  await pass(MINUTE);
  expect(received).toHaveLength(1);
  await first.kill();
  await ring(['Shipped']);
  await pass(MINUTE);
  expect(received).toHaveLength(2);
});

it('waits as long as the target asks for', async () => {
  const { ring, pass, received, taken, start, target } = enter();
  await start();
  target.answer = () => new Response('', { status: 429, headers: { 'retry-after': '90' } });
  await ring(['Paid']);
  await pass(89_000);
  expect(received).toHaveLength(1);
  target.answer = () => new Response('ok');
  await pass(5_000);
  expect(taken()).toHaveLength(1);
});

it.each([400, 409, 413, 422])(
  'gives up a message that is answered %i, and sends all others, also after a restart',
  async (status) => {
    const { ring, pass, taken, start, target, errors, numbers, message } = enter();
    target.answer = ({ body }) =>
      body.includes('Poison') ? new Response('', { status }) : new Response('ok');
    let process = await start();
    for (const round of [1, 2]) {
      await ring([`Poison ${round}`, `Poison ${round}`]);
      await pass(1_000);
      expect(await message()).toContain(`answers ${status}: it refuses the message, even in its`);
      for (let n = 0; n < 25; n++) {
        await ring([`Honest ${n}`]);
        await pass(1_000);
      }
      await pass(2 * MINUTE);
      expect(sum(taken())).toBe(25 * round);
      expect(await message()).toBeUndefined();
      await process.kill();
      process = await start();
    }
    expect(errors).toEqual(
      [1, 2].map(() => ({
        kind: 'dropped',
        message: `the message about 2 rows: ${ADDRESS.name} answers ${status}: it refuses the message, even in its shortest form`,
      })),
    );
    expect(numbers.filter((one) => one === 'notified 1 dropped')).toHaveLength(2);
  },
);

it('says once that the set-up is wrong, and shows no secret', async () => {
  const { ring, pass, taken, start, target, errors, message, numbers } = enter();
  await start();
  target.answer = () => new Response('no token for /secret-path', { status: 403 });
  await ring(['Paid']);
  await pass(5 * MINUTE);
  const words =
    'answers 403 ("no token for …"): it does not let this address in: check its user and password in NOTIFY';
  expect(await message()).toBe(words);
  expect(errors).toEqual([{ kind: 'notify', message: `${ADDRESS.name} ${words}. Messages wait` }]);
  expect(ADDRESS.name).toMatch(/^hooks\.example\/…\w{6}$/);
  target.answer = () => new Response('ok');
  await pass(5 * MINUTE);
  expect(taken()).toHaveLength(1);
  expect(await message()).toBeUndefined();
  expect(new Set(numbers)).toEqual(new Set(['notified 1 refused', 'notified 1 delivered']));
});
