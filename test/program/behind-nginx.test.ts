/** The nginx block of the docs, in front of the program. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSettings } from '../../src/program/settings.js';
import { event } from '../server/support/records.js';
import { readEvents } from '../server/support/read-events.js';
import { blocks, read } from '../support/docs.js';
import { freePort } from '../support/free-port.mjs';
import { startNginx } from '../support/start-nginx.js';
import { tempFolder } from '../support/temp-folder.js';
import { runProgram } from './support/run-program.js';

const ORIGIN = 'https://shop.example';
const [BLOCK] = blocks(read('docs/proxy.md'), 'nginx');

/** The program as the docs start it, and nginx with their block in front of it. */
const start = async (place: string) => {
  const folder = tempFolder();
  const files = join(folder, 'files');
  mkdirSync(join(files, 'rows'), { recursive: true });
  copyFileSync('src/server/rows/page/index.html', join(files, 'rows', 'index.html'));
  for (const name of ['rows/rows.js', 'rows/rows.css', 'rows/show.css', 'outbox-auto.js'])
    writeFileSync(join(files, name), name.repeat(100));
  const settings = readSettings({
    ...{ SITE_ORIGIN: ORIGIN, CLIENT_ADDRESS_HEADER: 'x-real-ip' },
    ...{ DATA_FOLDER: folder, PORT: '0' },
  });
  const program = await runProgram(settings, { folder: files });
  const behind = new URL(program.url).port;
  const port = await freePort();
  const block = BLOCK!
    .replaceAll('/in/', place)
    .replaceAll('127.0.0.1:8787', `127.0.0.1:${behind}`);
  const nginx = await startNginx(
    join(folder, 'nginx'),
    `server { listen 127.0.0.1:${port}; ${block} }`,
    port,
  );
  onTestFinished(() => nginx.stop());
  const url = `http://127.0.0.1:${port}${place}`;
  const token = readFileSync(join(folder, 'read-token'), 'utf8').trim();
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, url), { redirect: 'manual', ...init });
  return { url, port, token, ask };
};

const html = { accept: 'text/html' };
const asked = (response: Response) => [response.status, response.headers.get('location')];

it.each(['/in/', '/'])(
  'shows and takes all under %s, as the docs set nginx up',
  { tags: ['nginx'] },
  async (place) => {
    const { url, port, token, ask } = await start(place);
    const own = `http://127.0.0.1:${port}`;
    const at = (response: Response) =>
      new URL(response.headers.get('location')!, response.url).href;

    // The page, and what it names.
    expect(at(await ask('./'))).toBe(`${url}rows`);
    const page = await ask('rows', { headers: html });
    const names = [...(await page.text()).matchAll(/(?:src|href)="(?!#|data:|https:)([^"]+)"/g)];
    expect(names).toHaveLength(3);
    for (const [, name] of names) expect((await fetch(new URL(name!, page.url))).status).toBe(200);

    // Rows are for who has the token, which becomes a cookie for this path.
    expect((await ask('counts')).status).toBe(401);
    expect((await ask('users?project=p&user=u', { method: 'DELETE' })).status).toBe(401);
    const entered = await ask(`rows?token=${token}`, { headers: html });
    expect(at(entered)).toBe(`${url}rows`);
    const cookie = entered.headers.get('set-cookie')!.split(';')[0]!;
    expect((await ask('counts', { headers: { cookie } })).status).toBe(200);

    // The page may change something, and another one may not, in browsers that say nothing of the site.
    const resend = (origin: string) =>
      ask('refused/resend', { method: 'POST', body: '{"seqs":[]}', headers: { cookie, origin } });
    expect((await resend(own)).status).toBe(200);
    expect((await resend('https://evil.example')).status).toBe(403);

    // What pages load and send, and rows as they arrive.
    const file = await ask('outbox-auto.js', { headers: { 'accept-encoding': 'gzip, br' } });
    expect(await file.text()).toBe('outbox-auto.js'.repeat(100));
    expect(file.headers.get('content-encoding')).toBe('br');
    const known = { 'accept-encoding': 'gzip, br', 'if-none-match': file.headers.get('etag')! };
    expect((await ask('outbox-auto.js', { headers: known })).status).toBe(304);
    for (const name of ['rows/rows.js', 'rows/rows.css'])
      expect((await ask(name)).headers.get('content-encoding')).toBe('gzip');
    const feed = readEvents(await ask('rows?format=sse', { headers: { cookie } }));
    const send = (origin: string) =>
      ask('a/v1/batch', {
        method: 'POST',
        headers: { 'content-type': 'text/plain', origin },
        body: JSON.stringify({ sent_at: new Date().toISOString(), records: [event('e1', 'Seen')] }),
      });
    expect(await (await send(ORIGIN)).json()).toMatchObject({
      results: [{ outcome: 'delivered' }],
    });
    expect((await send('https://evil.example')).status).toBe(403);
    await feed.until((seen) => seen.some(({ name }) => name === 'row'));
  },
);

it(
  'finds the path itself where the slash at its end was left out',
  { tags: ['nginx'] },
  async () => {
    const { ask } = await start('/in/');
    expect(asked(await ask('/in'))).toEqual([301, expect.stringMatching(/\/in\/$/)]);
  },
);
