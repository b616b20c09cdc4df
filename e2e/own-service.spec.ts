import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

/** The service that docs/services.md leads to. */
const PROGRAM = fileURLToPath(new URL('fixtures/services/own.mjs', import.meta.url));
const TOKEN = 'write-only';

test('a service of 30 lines takes what the snippet sends, once, and nothing else', async ({
  page,
  site,
  folder,
}) => {
  const file = join(folder, 'records.jsonl');
  const own = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, TOKEN, PORT: '0', FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(own.stdout, 'data')) as [Buffer];
  const baseUrl = said.toString().trim();
  const rows = () => {
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const ask = async (token: string, body: string, path = '/v1/event') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(baseUrl + path, { method: 'POST', headers, body })).status;
  };
  try {
    await page.goto(site.page('/', site.tagged({ baseUrl, token: TOKEN })));
    await page.evaluate(() => analytics.identify('user_1', { plan: 'pro' }));
    await track(page, names(30));
    await expect.poll(async () => (await statusOf(page)).delivered).toBe(31);
    const [first, ...events] = rows().sort((a, b) => Number('event' in a) - Number('event' in b));
    const properties = { plan: 'pro' };
    const identify = { operation: '/v1/identify', project: 'p', user_id: 'user_1', properties };
    expect(first).toEqual(identify);
    expect(events.map(({ event }) => event).sort()).toEqual(names(30).sort());
    expect(events[0]).toMatchObject({ operation: '/v1/event', channel: 'c', user_id: 'user_1' });

    const event = JSON.stringify({ project: 'p', channel: 'c', event: 'By hand' });
    expect(await ask('wrong', event)).toBe(401);
    expect(await ask(TOKEN, event, '/v1/else')).toBe(404);
    for (const body of ['', 'no JSON', 'null', '{"project":"p"}', '{"project":1}'])
      expect(await ask(TOKEN, body)).toBe(400);
    expect(rows()).toHaveLength(31);
    expect(await ask(TOKEN, event)).toBe(200);
    expect(rows()).toHaveLength(32);
  } finally {
    own.kill();
  }
});
