import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

/** The service of docs/services.md, as it is shown there. */
const PROGRAM = fileURLToPath(new URL('fixtures/services/own.mjs', import.meta.url));
const TOKEN = 'write-only';

const startOwn = async (file: string) => {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, TOKEN, PORT: '0', FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: said.toString().trim(), stop: () => child.kill() };
};

test('a service of 30 lines takes what the snippet sends, once, and nothing else', async ({
  page,
  site,
  folder,
}) => {
  const file = join(folder, 'records.jsonl');
  const own = await startOwn(file);
  const rows = () =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      : [];
  try {
    const setup = { baseUrl: own.url, token: TOKEN };
    await page.goto(site.page('/', site.tagged(setup)));
    await page.evaluate(() => analytics.identify('user_1', { plan: 'pro' }));
    await track(page, names(30));
    await expect.poll(async () => (await statusOf(page)).delivered).toBe(31);
    const events = rows().filter(({ operation }) => operation === '/v1/event');
    expect(events.map(({ event }) => event).sort()).toEqual(names(30).sort());
    expect(events[0]).toMatchObject({ project: 'p', channel: 'c', user_id: 'user_1' });
    expect(rows().filter(({ operation }) => operation === '/v1/identify')).toEqual([
      { operation: '/v1/identify', project: 'p', user_id: 'user_1', properties: { plan: 'pro' } },
    ]);

    const ask = async (token: string, body: string, path = '/v1/event') => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(own.url + path, { method: 'POST', headers, body })).status;
    };
    const event = JSON.stringify({ project: 'p', channel: 'c', event: 'By hand' });
    expect(await ask('wrong', event)).toBe(401);
    expect(await ask(TOKEN, event, '/v1/else')).toBe(404);
    for (const body of ['', 'no JSON', 'null', '{"project":"p"}', '{"project":1}']) {
      expect(await ask(TOKEN, body)).toBe(400);
    }
    expect(rows()).toHaveLength(31);
    expect(await ask(TOKEN, event)).toBe(200);
    expect(rows()).toHaveLength(32);
  } finally {
    own.stop();
  }
});
