// Costs of the snippet beside the least that does the same, measured by turns in the same run.
// This prints a table; ratios travel between machines better than the figures do.
// `node bench/browser/run.mjs --only cpu,init` measures some rows, `--rounds 9` in so many rounds.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { openBrowser, startCpu, tasksOf, taskTime, watchTasks } from './browser.mjs';

const { values: given } = parseArgs({
  options: { only: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const ROUNDS = Number(given.rounds);
const EVENTS = 1_000;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

const server = fork(new URL('./server.mjs', import.meta.url));
const ports = await new Promise((resolve) => server.once('message', resolve));
const site = `http://shop.example:${ports.site}/`;
const service = `http://service.example:${ports.service}`;
/** On a connection of its own: the server closes one that was idle for 5 s, at which moment another request may use it. */
const control = async (query) => {
  const init = { headers: { connection: 'close' } };
  const answer = await fetch(`http://127.0.0.1:${ports.site}/control?${query}`, init);
  return Number(await answer.text());
};
const countIs = async (wanted) => {
  while ((await control('')) < wanted) await new Promise((done) => setTimeout(done, 5));
};
const { browser, open, version } = await openBrowser(site);

/** The two builds, each with where it sends to. */
const BUILDS = {
  ours: { src: '/outbox.js', options: { baseUrl: service, token: 't' } },
  base: { src: '/base.js', options: { baseUrl: service, token: 't' } },
  relay: { src: '/outbox-relay.js', options: { relay: '/a' } },
};

/** Loads a script, and starts the snippet if there are options for it. */
const load = (page, src, options) =>
  page.evaluate(
    ([src, options]) =>
      new Promise((done) => {
        const script = document.createElement('script');
        script.src = src;
        script.onload = () => {
          if (options) window.analytics.init(options);
          done();
        };
        document.head.append(script);
      }),
    [src, options],
  );

/** Loads the snippet and starts it, as a page would. */
const boot = (page, more = {}, { src, options } = BUILDS.ours) =>
  load(page, src, { project: 'p', channel: 'c', ...options, ...more });

/**
 * Resolves when all is delivered. Not by `waitForFunction`: what Playwright puts into the page for it takes 500 KiB, and
 * the time to compile it.
 */
const whenDelivered = (page) =>
  page.evaluate(async () => {
    while (analytics.status().waiting) await new Promise((done) => setTimeout(done, 20));
  });

/**
 * 1,000 events, ten in a task: what a busy page does. Resolves with the microseconds of a call when the last has been made.
 * `idle` makes none: what the browser takes for itself meanwhile.
 */
const pace = (page, kind) =>
  page.evaluate(
    async ([how, url, events]) => {
      const bare = (i) =>
        fetch(`${url}/v1/event`, {
          method: 'POST',
          keepalive: true,
          credentials: 'omit',
          headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
          body: JSON.stringify({
            project: 'p',
            channel: 'c',
            event: `event ${i}`,
            tags: { i },
            timestamp: new Date().toISOString(),
          }),
        }).then((response) => response.text());
      const ways = {
        idle: () => undefined,
        bare,
        floor: (i) => window.floor(`${url}/v1/event`, `event ${i}`, { i }),
        ours: (i) => analytics.event(`event ${i}`, { tags: { i } }),
      };
      const send = ways[how] ?? ways.ours;
      let spent = 0;
      for (let i = 0; i < events;) {
        const start = performance.now();
        for (const next = i + 10; i < next; i++) send(i);
        spent += performance.now() - start;
        await new Promise((done) => setTimeout(done, 30));
      }
      return (spent / events) * 1000;
    },
    [kind, service, EVENTS],
  );

const measurePaced = async (kind) => {
  const { page, cdp } = await open();
  const build = BUILDS[kind];
  if (build) await boot(page, {}, build);
  if (kind === 'floor') await load(page, '/floor.js');
  await page.waitForTimeout(300);
  await control('reset');
  const task = await taskTime(cdp);
  const cpu = startCpu([server.pid]);
  const call = await pace(page, kind);
  if (kind !== 'idle') await countIs(EVENTS);
  if (build) await whenDelivered(page);
  const result = {
    call,
    cpu: (cpu() / EVENTS) * 1000,
    task: (((await taskTime(cdp)) - task) / EVENTS) * 1000,
    batches: await control('batches'),
  };
  await page.close();
  return result;
};

/** Counts, in a page, how often scripts use what an event costs. Each use is counted before it happens. */
const countUses = (page) =>
  page.evaluate(() => {
    const uses = (window.uses = { transactions: 0, timers: 0, reads: 0, listeners: 0 });
    const count = (target, method, key, counts = () => true) => {
      const real = target[method];
      target[method] = function (...args) {
        if (counts(...args)) uses[key]++;
        return real.apply(this, args);
      };
    };
    count(IDBDatabase.prototype, 'transaction', 'transactions');
    count(window, 'setTimeout', 'timers');
    count(Storage.prototype, 'getItem', 'reads');
    count(window, 'addEventListener', 'listeners', (type) => type === 'beforeunload');
  });

/** How often an event uses what costs most, in a page that makes 1,000: the median of a few rounds says enough. */
const measureUses = async (kind) => {
  const { page } = await open();
  if (BUILDS[kind]) await boot(page, {}, BUILDS[kind]);
  if (kind === 'floor') await load(page, '/floor.js');
  await page.waitForTimeout(300);
  await control('reset');
  await countUses(page);
  await pace(page, kind);
  if (kind !== 'idle') await countIs(EVENTS);
  await page.waitForTimeout(500); // the last deletions
  const uses = await page.evaluate(() => window.uses);
  await page.close();
  return Object.fromEntries(Object.entries(uses).map(([key, count]) => [key, count / EVENTS]));
};

/**
 * Microseconds of a call: of ours, of ours with 300 B of tags, and of what each is beside: a bare request, and one
 * `JSON.stringify` and one ISO time of the same.
 */
const perCall = (page, kind, count) =>
  page.evaluate(
    ([how, url, n]) => {
      const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
      const bare = {
        method: 'POST',
        keepalive: true,
        headers,
        body: '{"project":"p","channel":"c","event":"e"}',
      };
      const tags = { plan: 'pro', path: '/pricing', title: 'x'.repeat(260) };
      const ways = {
        ours: (i) => analytics.event('Clicked', { tags: { i, plan: 'pro' } }),

        bare: () =>
          void fetch(url, bare).then(
            (response) => response.text(),
            () => undefined,
          ),
        tagged: () => analytics.event('Clicked', { tags }),
        text: () => {
          const timestamp = new Date().toISOString();
          const body = { project: 'p', channel: 'c', event: 'Clicked', tags, timestamp };
          window.text = JSON.stringify(body); // kept, or it might not be made at all
        },
      };
      const call = ways[how];
      const start = performance.now();
      for (let i = 0; i < n; i++) call(i);
      return ((performance.now() - start) / n) * 1000;
    },
    [kind, `${service}/v1/event`, count],
  );

/** What a call costs after a short warm-up. */
const measureCalls = async (kind) => {
  const { page } = await open();
  if (kind === 'ours' || kind === 'tagged') await boot(page);
  await perCall(page, kind, 50);
  await page.waitForTimeout(1_500);
  const cost = await perCall(page, kind, 200);
  await page.close();
  return cost;
};

/** Bytes of the heap that are in use. */
const heapOf = async (page) => {
  const collect = () =>
    page.evaluate(() => {
      window.gc?.();
      return performance.memory.usedJSHeapSize;
    });
  await collect(); // one collection leaves half of the garbage
  await page.waitForTimeout(500);
  return collect();
};

/**
 * Heap that 1,000 calls with 300 B of tags take beside their texts in one array: while they wait, since the service
 * answers 503, or when all are delivered.
 */
const measureHeap = (status) => async (kind) => {
  await control(`status=${status}&reset`);
  const { page } = await open();
  await page.evaluate(() => localStorage.clear());
  if (kind === 'ours') await boot(page, { project: `heap ${Math.random()}` });
  await page.waitForTimeout(500);
  const before = await heapOf(page);
  await page.evaluate((how) => {
    window.texts = [];
    for (let i = 0; i < 1_000; i++) {
      const tags = { i, plan: 'pro', path: '/pricing', title: 'x'.repeat(250) };
      if (how === 'ours') analytics.event('Clicked', { tags });
      else
        window.texts.push(JSON.stringify({ project: 'p', channel: 'c', event: 'Clicked', tags }));
    }
  }, kind);
  // Not by `waitForFunction`: what Playwright puts into the page for it takes 500 KiB.
  if (status === 200) await countIs(1_000);
  await page.waitForTimeout(2_000);
  const cost = ((await heapOf(page)) - before) / 1024;
  await page.close();
  await control('status=200');
  return cost;
};

let starts = 0;

/** Task time of a script's load, above that of an empty one, on a machine so many times slower. */
const measureInit = async ({ kind, slower }) => {
  const { page, cdp } = await open();
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slower });
  await page.waitForTimeout(300);
  // Another address each time: nothing compiled before is used again.
  const fresh = `?start=${++starts}`;
  const before = await taskTime(cdp);
  if (kind === 'floor') await load(page, `/floor.js${fresh}`);
  else await boot(page, {}, { ...BUILDS.ours, src: `/outbox.js${fresh}` });
  await page.waitForTimeout(300);
  const cost = (await taskTime(cdp)) - before;
  const idle = await taskTime(cdp);
  await load(page, `/empty.js${fresh}`);
  await page.waitForTimeout(300);
  const empty = (await taskTime(cdp)) - idle;
  await page.close();
  return cost - empty;
};

const callMany = async (page, count) => {
  for (let made = 0; made < count; made += 500) {
    await page.evaluate(() => {
      for (let i = 0; i < 500; i++) analytics.event('Waiting', { tags: { i } });
    });
    await page.waitForTimeout(30);
  }
};

/** Cost of a call and of a boot beside a backlog that cannot be delivered. */
const measureBacklog = async (waiting) => {
  await control('status=503&reset');
  const { page } = await open();
  await page.evaluate(() => localStorage.clear());
  await boot(page, { project: `backlog ${waiting} ${Math.random()}`, maxRecords: 20_000 });
  await callMany(page, waiting);
  await page.waitForTimeout(1_000);
  const costs = [];
  for (let i = 0; i < 9; i++) {
    costs.push(await perCall(page, 'ours', 40));
    await page.waitForTimeout(100);
  }
  const heap = await heapOf(page);
  await page.close();
  await control('status=200');
  return { call: median(costs), heap };
};

const bootWith = async (waiting) => {
  const project = `boot ${waiting} ${Math.random()}`;
  await control('status=503&reset');
  const first = await open();
  await first.page.evaluate(() => localStorage.clear());
  await boot(first.page, { project, maxRecords: 20_000 });
  await callMany(first.page, waiting);
  await first.page.waitForTimeout(500);
  // Let go by leaving, so that the next page claims it at once.
  await first.page.goto(`${site}next`);
  const cdp = await first.page.context().newCDPSession(first.page);
  await watchTasks(cdp);
  await first.page.waitForTimeout(300);
  const before = await taskTime(cdp);
  await boot(first.page, { project });
  await first.page.waitForTimeout(400);
  const cost = (await taskTime(cdp)) - before;
  await first.page.close();
  await control('status=200');
  return cost;
};

const measureDrain = async (kind) => {
  const { page } = await open();
  await control('status=200&reset');
  if (kind === 'ours') await boot(page, { project: `drain ${Math.random()}` });
  const start = performance.now();
  await page.evaluate(
    ([how, url, events]) => {
      if (how === 'ours') {
        for (let i = 0; i < events; i++) analytics.event(`event ${i}`, { tags: { i } });
        void analytics.flush();
        return;
      }
      let next = 0;
      const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
      const one = async () => {
        while (next < events) {
          const i = next++;
          const body = JSON.stringify({ project: 'p', channel: 'c', event: `event ${i}` });
          const init = { method: 'POST', keepalive: true, headers, body };
          await (await fetch(`${url}/v1/event`, init)).text();
        }
      };
      for (let i = 0; i < 6; i++) void one();
    },
    [kind, service, EVENTS],
  );
  await countIs(EVENTS);
  const time = performance.now() - start;
  await page.close();
  return time;
};

const measureLongest = async () => {
  const { page } = await open();
  const tasks = await tasksOf(browser, page, 'outbox.js', async () => {
    await boot(page);
    await pace(page, 'ours');
    await whenDelivered(page);
  });
  await page.close();
  return tasks[0] ?? 0;
};

/** Rounds of several kinds by turns, so that none has the quieter machine. */
const byTurns = async (kinds, measure) => {
  const rounds = Object.fromEntries(kinds.map((kind) => [kind, []]));
  for (let i = 0; i < ROUNDS; i++) {
    for (const kind of kinds) rounds[kind].push(await measure(kind));
  }
  return rounds;
};

/** Rounds of one kind. */
const repeat = async (measure) => (await byTurns(['one'], measure)).one;

const rows = [];
/** Figures are medians, or single ones. The ratio is the median of those of the rounds, which differ less. */
const row = (name, ours, beside, aim, unit) => {
  const [all, others] = [[ours].flat(), [beside ?? []].flat()];
  const ratios = others.map((other, i) => all[i] / other).filter(Number.isFinite);
  const [ratio, least] = [median(ratios), median(others)];
  rows.push({ name, ours: median(all), beside: least, ratio, aim, unit });
};

const pick = (rounds, key) => rounds.map((figures) => figures[key]);

/** Parts, which `--only` picks. */
const parts = {
  calls: async () => {
    const kinds = ['bare', 'ours', 'text', 'tagged'];
    const { ours, bare, tagged, text } = await byTurns(kinds, measureCalls);
    row('per call, beside a bare request', ours, bare, '', 'µs');
    row('per call, 300 B of tags, beside their text', tagged, text, '', 'µs');
  },
  uses: async () => {
    const { idle, floor, ours } = await byTurns(['idle', 'floor', 'ours'], measureUses);
    const aims = {
      transactions: ['transactions', '≤ 0.3'],
      timers: ['timers', '≤ 3.9'],
      reads: ['reads of localStorage', '≤ 2.7'],
      listeners: ['`beforeunload` listeners', '≤ 0.2'],
    };
    for (const [key, [what, aim]] of Object.entries(aims)) {
      const aboveIdle = (rounds) => rounds.map((uses, i) => uses[key] - idle[i][key]);
      row(`${what} per event`, aboveIdle(ours), aboveIdle(floor), aim, '');
    }
  },
  cpu: async () => {
    const { idle, floor, ours } = await byTurns(['idle', 'floor', 'ours'], measurePaced);
    const aboveIdle = (rounds) => rounds.map(({ cpu }, i) => cpu - idle[i].cpu);
    row('a call, ten in a task', pick(ours, 'call'), pick(floor, 'call'), '≤ 3 ×', 'µs');
    row('main thread per event', pick(ours, 'task'), pick(floor, 'task'), '≤ 1.4 ×', 'µs');
    row('CPU per event', aboveIdle(ours), aboveIdle(floor), '≤ 1.4 ×', 'µs');
  },
  relay: async () => {
    const { idle, bare, relay } = await byTurns(['idle', 'bare', 'relay'], measurePaced);
    const aboveIdle = (rounds) => rounds.map(({ cpu }, i) => cpu - idle[i].cpu);
    row('main thread by relay', pick(relay, 'task'), pick(bare, 'task'), '≤ 0.22 ×', 'µs');
    row('CPU per event by relay', aboveIdle(relay), aboveIdle(bare), '≤ 0.15 ×', 'µs');
    row('requests for 1,000, by relay', pick(relay, 'batches'), undefined, '≤ 25', '');
  },
  init: async () => {
    for (const [slower, where] of [
      [1, ''],
      [4, ', 4 × slower'],
    ]) {
      const { ours, floor } = await byTurns(['floor', 'ours'], (kind) =>
        measureInit({ kind, slower }),
      );
      row(`init${where}`, ours, floor, slower > 1 ? '≤ 1.9 ×' : '≤ 1.7 ×', 'ms');
    }
  },
  longest: async () =>
    row('longest own task', await repeat(measureLongest), undefined, '≤ 5 ms', 'ms'),
  heap: async () => {
    const delivered = await byTurns(['ours'], measureHeap(200));
    row('heap after 1,000 calls of 300 B', delivered.ours, undefined, '≤ 350 KiB', 'KiB');
    const { ours, bare } = await byTurns(['bare', 'ours'], measureHeap(503));
    row('the same, all waiting', ours, bare, '', 'KiB');
  },
  backlog: async () => {
    const none = await measureBacklog(0);
    row('per call, 0 waiting', none.call, undefined, '', 'µs');
    for (const waiting of [1_000, 10_000]) {
      const { call, heap } = await measureBacklog(waiting);
      row(`per call, ${waiting} waiting`, call, none.call, '≤ 1.1 ×', 'µs');
      if (waiting === 10_000) row('heap, 10,000 waiting', heap / 1e6, none.heap / 1e6, '', 'MB');
    }
  },
  boot: async () => {
    const none = await repeat(() => bootWith(0));
    row('boot, 0 stored', none, undefined, '', 'ms');
    for (const waiting of [1_000, 10_000]) {
      const cost = await repeat(() => bootWith(waiting));
      row(`boot, ${waiting} stored`, cost, none, '≤ 1.1 ×', 'ms');
    }
  },
  drain: async () => {
    const { ours, bare } = await byTurns(['bare', 'ours'], measureDrain);
    row('drain of 1,000', ours, bare, '≤ 1.2 ×', 'ms');
  },
};
const r={floor:[],base:[],ours:[],idle:[]};
const u = await byTurns(['idle', 'floor', 'base', 'ours'], measureUses);
for (const k of ['floor','base', 'ours']) console.log(k, Object.keys(u[k][0]).map(key=>key+' '+median(u[k].map((x,i)=>x[key]-u.idle[i][key])).toFixed(3)).join(' '));
await browser.close(); server.kill();
