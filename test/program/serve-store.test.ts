import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { readSettings } from '../../src/program/settings.js';
import type { Refused, Row, SetupState } from '../../src/service.js';
import { event, identify } from '../server/support/records.js';
import { listen } from '../server/support/relay.js';
import { readEvents } from '../server/support/read-events.js';
import { tempFolder } from '../support/temp-folder.js';
import { runProgram } from './support/run-program.js';

const LOCAL = 'http://localhost:5173';

/** Starts the program on a free port, as in an empty folder. */
const start = async (environment: NodeJS.ProcessEnv = {}, folder = tempFolder()) => {
  const settings = readSettings({ DATA_FOLDER: folder, PORT: '0', ...environment });
  const program = await runProgram(settings, { environment, folder });
  const url = readFileSync(join(folder, 'address'), 'utf8').trim();
  const send = (records: readonly object[], origin = LOCAL) =>
    fetch(`${url}/a/v1/batch`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', origin },
      body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
    });
  const read = async (path: string, token?: string): Promise<unknown> =>
    (
      await fetch(url + path, token ? { headers: { authorization: `Bearer ${token}` } } : {})
    ).json();
  const rows = async () => ((await read('/rows')) as { rows: Row[] }).rows;
  const refused = async () => ((await read('/refused')) as { refused: Refused[] }).refused;
  return { ...program, folder, url, send, read, rows, refused };
};

it('makes a folder and files that only its own user can read', async () => {
  const folder = join(tempFolder(), 'new');
  const { send, rows } = await start({}, folder);
  await send([event('e1', 'Signed Up', 'u')]);
  expect(await rows()).toHaveLength(1);
  const rightsOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(rightsOf(folder)).toBe('700');
  const files = readdirSync(folder);
  expect(files).toEqual(expect.arrayContaining(['read-token', 'rows.db', 'rows.db-wal']));
  expect(files.map((name) => [name, rightsOf(join(folder, name))])).toEqual(
    files.map((name) => [name, '600']),
  );
});

it('runs without any setting: makes its tokens, takes what the tag sends, and shows it', async () => {
  const program = await start();
  const { folder, lines, announced, url } = program;
  expect(lines.slice(0, 2)).toEqual([
    `stores in file:${folder}/rows.db`,
    expect.stringMatching(/^listens at http:/),
  ]);
  expect(announced).toContain(`Rows      ${url}/rows`);
  expect(announced).toContain(`<script src="${url}/outbox-auto.js" data-relay="${url}/a"`);
  const write = readFileSync(join(folder, 'write-token'), 'utf8').trim();
  expect(announced).not.toContain(write);
  await program.send([identify('i1', 'u'), event('e1', 'Signed Up', 'u')]);
  const direct = await fetch(`${url}/v1/event`, {
    method: 'POST',
    headers: { authorization: `Bearer ${write}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project: 'any', channel: 'c', event: 'Direct' }),
  });
  expect(direct.status).toBe(200);
  expect((await fetch(`${url}/v1/event`, { method: 'POST', body: '{}' })).status).toBe(401);
  expect((await fetch(`${url}/v1/event`, { method: 'OPTIONS' })).status).toBe(204);
  expect((await program.rows()).map(({ id, event }) => event ?? id)).toEqual([
    'i1',
    'Signed Up',
    'Direct',
  ]);
  expect(await program.read('/setup')).toMatchObject({
    tag: expect.stringContaining(url),
    tokenFile: join(folder, 'write-token'),
    steps: { accepted: expect.any(String), stored: expect.any(String) },
  });
  await program.stop();
  expect(program.lines.at(-1)).toBe('stopped. in: 3 delivered; requests refused: 1 × 401');
});

it('ends what follows its rows as it stops, and does not wait until it may cut them off', async () => {
  const program = await start();
  const feed = readEvents(await fetch(`${program.url}/rows?format=sse`));
  await feed.until((seen) => seen.some(({ name }) => name === 'ready'));
  const ended = feed.until(() => false); // it would reject if the connection was cut off
  await program.stop();
  await ended;
});

it('keeps its tokens and rows over a restart', async () => {
  const first = await start();
  await first.send([event('e1')]);
  const token = readFileSync(join(first.folder, 'write-token'), 'utf8');
  await first.stop();
  const second = await start({}, first.folder);
  expect(readFileSync(join(first.folder, 'write-token'), 'utf8')).toBe(token);
  expect((await second.rows()).map(({ id }) => id)).toEqual(['e1']);
});

it('shows what it refuses, with the fix', async () => {
  const program = await start({ PROJECTS: 'p', CHANNELS: 'c' });
  // No record is refused by these.
  expect((await fetch(`${program.url}/a/v1/batch`)).status).toBe(405);
  expect((await fetch(`${program.url}/a/favicon.ico`)).status).toBe(404);
  const stand = async () => {
    const { steps, problem } = (await program.read('/setup')) as SetupState;
    return [Object.keys(steps).join(), problem?.step];
  };
  await program.send([event('e1')], 'https://shop.example');
  await vi.waitUntil(async () => (await stand())[1]);
  expect(await stand()).toEqual(['', 'accepted']);
  await program.send([event('e2')], 'null');
  await program.send([{ ...event('e3'), body: { ...event('e3').body, project: 'q' } }]);
  await vi.waitUntil(async () => (await program.refused()).length === 3);
  expect((await program.refused()).map(({ reason, message }) => [reason, message])).toEqual([
    [
      'origin',
      'Pages of https://shop.example may not send. Add the origin to `origins` (the setting SITE_ORIGIN).',
    ],
    ['origin', expect.stringContaining('a file opened from disk')],
    ['project', expect.stringContaining('does not list the project "q"')],
  ]);
  expect(await program.rows()).toEqual([]);
  // The page was let in, without a preflight.
  expect(await stand()).toEqual(['accepted', 'stored']);
});

it('outlives records that are far too deep, and shows that they were refused', async () => {
  const program = await start();
  const withBody = (id: string, more: object) => ({
    ...{ id, type: 'event', body: { ...event(id).body, ...more } },
  });
  // Written as text, since `JSON.stringify` overflows the stack as well.
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  const records = [
    withBody('e1', { tags: { deep: 'DEEP' } }),
    withBody('e2', { tags: { deep: 'DEEP' }, body: 'DEEP' }),
    event('e3'),
  ];
  const answer = await fetch(`${program.url}/a/v1/batch`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', origin: LOCAL },
    body: JSON.stringify({ sent_at: '', records }).replaceAll('"DEEP"', deep),
  });
  expect(await answer.json()).toMatchObject({
    results: [{ outcome: 'rejected' }, { outcome: 'rejected' }, { outcome: 'delivered' }],
  });
  await vi.waitUntil(async () => (await program.refused()).length === 2);
  expect(await program.refused()).toMatchObject([
    { id: 'e1', message: expect.stringContaining('200 levels') },
    { id: 'e2', message: expect.stringContaining('200 levels') },
  ]);
});

it.each(['0.0.0.0', '::'])(
  'asks for the read token where others can reach it: %s',
  async (HOST) => {
    const program = await start({ HOST });
    const { url } = program;
    // An address that a person can open.
    expect(url).toMatch(/^http:\/\/localhost:/);
    expect(program.announced).toContain(`Rows      ${url}/rows`);
    expect((await fetch(`${url}/rows`)).status).toBe(401);
    const token = readFileSync(join(program.folder, 'read-token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/rows`, { headers })).status).toBe(200);
    expect(program.announced).toContain('asks for the token in');
    expect(program.announced).not.toContain(token);
  },
);

it.each<[what: string, environment: NodeJS.ProcessEnv]>([
  ['pages of a site', { SITE_ORIGIN: 'https://shop.example' }],
  ['pages of this machine and of a site', { SITE_ORIGIN: 'http://localhost:5173,https://a.test' }],
  ['a trusted proxy', { TRUSTED_PROXIES: '1' }],
  ['a header of a proxy', { CLIENT_ADDRESS_HEADER: 'x-real-ip' }],
])(
  'asks for the read token where a setting names %s: a proxy may pass anybody on',
  async (_, env) => {
    const program = await start(env);
    const ask = (path: string, method = 'GET') => fetch(program.url + path, { method });
    expect((await ask('/rows')).status).toBe(401);
    expect((await ask('/users?project=p&user=u', 'DELETE')).status).toBe(401);
    expect(program.announced).toContain('asks for the token in');
    // The proxy shows the program to pages as a part of their own site.
    expect(program.announced).toContain('<script src="/outbox-auto.js" data-relay="/a"');
    expect(program.announced).toContain('data-auto="pageviews"');
  },
);

it('lets each project be read with a token of its own, and nothing without a token', async () => {
  const [ofShop, all] = ['read-token-of-shop', 'read-token-of-everything'];
  const program = await start({ READ_TOKENS: `shop=${ofShop}`, READ_TOKEN: all });
  const ask = async (token?: string, path = '/rows?project=blog') => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await fetch(program.url + path, { headers })).status;
  };
  expect([await ask(), await ask(ofShop), await ask(all)]).toEqual([401, 403, 200]);
  expect(await ask(ofShop, '/rows?project=shop')).toBe(200);
  expect(program.announced).toContain('READ_TOKEN       reading asks for it');
  expect(program.announced).not.toMatch(/read-token-of/);
});

it.each([
  ['https://shop.example/stats/', 'src="/stats/outbox-auto.js" data-relay="/stats/a"'],
  [
    'https://in.example',
    'src="https://in.example/outbox-auto.js" data-relay="https://in.example/a"',
  ],
])('has the address %s in its tag', async (PUBLIC_URL, place) => {
  const program = await start({ PUBLIC_URL, SITE_ORIGIN: 'https://shop.example' });
  expect(program.announced).toContain(place);
});

it('says what is in effect by the names of the settings, and nothing secret', async () => {
  const { announced } = await start({
    ...{ PROJECTS: 'shop,blog', CHANNELS: 'web', RETENTION_DAYS: '30', HOST: '0.0.0.0' },
    ...{ EXPORT: 'clickhouse://me:hidden@127.0.0.1:1/rows', SITE_ORIGIN: 'https://shop.example' },
    ...{ NOTIFY: 'ntfy://127.0.0.1:1/hidden-topic', NOTIFY_EVENTS: 'shop/orders/*' },
    ...{ READ_TOKEN: 'hidden-token-of-mine' },
  });
  for (const line of [
    ...['HOST             0.0.0.0', 'SITE_ORIGIN      https://shop.example'],
    ...['PROJECTS         shop, blog', 'CHANNELS         web', 'RETENTION_DAYS   30'],
    ...['EXPORT           127.0.0.1:1/rows', 'READ_TOKEN       reading asks for it'],
    'Set PUBLIC_URL to that',
  ])
    expect(announced).toContain(line);
  expect(announced).toMatch(/NOTIFY +127\.0\.0\.1:1\/hidd….* about shop\/orders\/\*/);
  expect(announced).not.toMatch(/hidden/);
});

it('stays open on this machine for pages of this machine', async () => {
  const program = await start({ SITE_ORIGIN: 'http://localhost:5173' });
  expect(await program.rows()).toEqual([]);
  expect(program.announced).toContain(`<script src="${program.url}/outbox-auto.js"`);
});

it.each<[NodeJS.Signals, said: string]>([
  ['SIGHUP', 'SIGHUP: nothing to read again without `SERVICE_URL`'],
  ['SIGUSR2', 'SIGUSR2: nothing waits to be passed on'],
])('is not ended by %s, which has no meaning here', async (signal, said) => {
  const program = await start();
  process.emit(signal);
  expect(program.lines).toContain(said);
  expect(await program.rows()).toEqual([]);
});

it('sends a message about a row with `notify`, and goes on where it stopped', async () => {
  const asked: { topic: string; title: string; click: string }[] = [];
  const port = await listen(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    asked.push(JSON.parse(text) as (typeof asked)[number]);
    response.end();
  });
  const environment = {
    NOTIFY: `ntfy+http://localhost:${port}/orders-topic`,
    NOTIFY_EVENTS: '*/*/*',
    PUBLIC_URL: 'https://in.example',
  };
  const ring = (name: string) => {
    const { body, ...record } = event(name);
    return { ...record, body: { ...body, notify: true } };
  };
  const folder = tempFolder();
  const first = await start(environment, folder);
  await first.send([ring('Paid')]);
  await vi.waitUntil(() => asked.length === 1);
  await first.stop();
  const silent = await start({}, folder);
  await silent.send([ring('Shipped')]);
  await silent.stop();
  await start(environment, folder);
  await vi.waitUntil(() => asked.length === 2);
  expect(asked.map(({ topic, title }) => [topic, title])).toEqual([
    ['orders-topic', 'Paid'],
    ['orders-topic', 'Shipped'],
  ]);
  expect(asked[0]!.click).toBe('https://in.example/rows?project=p&channel=c&event=Paid');
});
