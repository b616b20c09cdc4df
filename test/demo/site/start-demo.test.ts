import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { announcementOf, readDemoSettings } from '../../../demo/site/main';
import { startDemo, type DemoOptions, type RunningDemo } from '../../../demo/site/start-demo';
import { tempFolder } from '../../support/temp-folder';

const ANY = { port: 0, nextFree: false };

const TITLE = /<title>[^{]+ – analytics-outbox<\/title>/;

const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found!);

const start = async (options: Partial<DemoOptions> = {}) => {
  const database = join(tempFolder(), 'demo.db');
  const demo = await startDemo({ page: ANY, service: ANY, database, token: 't', ...options });
  onTestFinished(demo.close);
  return demo;
};

const takePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
};

describe('ports', () => {
  it('takes the next free one where it may', async () => {
    const port = await takePort();
    expect((await start({ page: { port, nextFree: true } })).port).toBeGreaterThan(port);
  });

  it('rejects when the one that was asked for is taken, and leaves the others free', async () => {
    const port = await takePort();
    const free = await takeAndFree();
    const taken = { port, nextFree: false };
    await expect(start({ page: { port: free, nextFree: false }, service: taken })).rejects.toThrow(
      'EADDRINUSE',
    );
    expect((await start({ page: { port: free, nextFree: false } })).port).toBe(free);
  });

  it('gives the page the port it asks for, even the usual one of the service', async () => {
    const port = await takeAndFree();
    const demo = await start({
      page: { port, nextFree: false },
      service: { port, nextFree: true },
    });
    expect(demo.port).toBe(port);
    expect(demo.service.port).not.toBe(port);
  });

  const takeAndFree = async (): Promise<number> => {
    const demo = await start();
    await demo.close();
    return demo.port;
  };
});

it.runIf(existsSync('dist/outbox.js'))(
  'lets a page of another origin load the tag with its hash',
  async () => {
    const { url } = await start();
    const { headers } = await fetch(`${url}/outbox.js`);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect((await fetch(`${url}/icon.svg`)).headers.get('access-control-allow-origin')).toBe(null);
  },
);

describe('page', () => {
  // Of a page that needs no build; the end-to-end tests open the other.
  const policyOf = async (url: string) =>
    (await fetch(`${url}/icon.svg`)).headers.get('content-security-policy');

  it('may ask the service by the host it was itself asked by', async () => {
    const { port, service } = await start();
    const policy = await policyOf(`http://localhost:${port}`);
    expect(policy).toContain(`connect-src 'self' http://localhost:${service.port};`);
  });

  it('has a nonce of its own in each answer', async () => {
    const { url } = await start();
    const nonce = async () => /'nonce-([^']+)'/.exec((await policyOf(url)) ?? '')?.[1];
    const [one, two] = [await nonce(), await nonce()];
    expect(one).toMatch(/^[\w+/]{22}==$/);
    expect(two).not.toBe(one);
  });

  it.runIf(existsSync('dist/stub.js'))(
    'has the token in its direct form, and not where a relay has it',
    async () => {
      const { url } = await start({ token: 'a-token' });
      const direct = await (await fetch(url)).text();
      expect(direct).toContain('data-token="a-token"');
      expect(direct).not.toContain('data-relay="/a"');
      for (const path of ['/relay', '/relay/tab', '/relay/away']) {
        const relayed = await (await fetch(url + path)).text();
        expect(relayed).not.toMatch(/a-token|\{\{|data-token|data-base-url/);
      }
    },
  );

  it.runIf(existsSync('dist/stub.js'))('has the tag to copy that the service prints', async () => {
    const { url, service } = await start();
    const shown = /data-tag="([^"]*)"/.exec(await (await fetch(url)).text())![1]!;
    expect(shown.replaceAll('&quot;', '"').replaceAll('&lt;', '<')).toBe(service.tag);
    expect(announcementOf({ url, service } as RunningDemo, { database: 'x' })).toContain(
      service.tag,
    );
  });

  it('gives a page of its own machine a tag that works, and names the read token, when it lets others in', async () => {
    const { service, url } = await start({ host: '0.0.0.0' });
    const { port } = service;
    expect(service.tag).toContain(`src="http://localhost:${port}/outbox-auto.js"`);
    expect(service.tag).toContain(`data-relay="http://localhost:${port}/a"`);
    expect(service.tag).toContain('data-auto="pageviews local"');
    const said = announcementOf({ url, service } as RunningDemo, {
      host: '0.0.0.0',
      database: 'x',
    });
    const [rows] = /http:\S+\/rows\S*/.exec(said)!;
    const headers = { accept: 'application/json' };
    const ask = (address: string) => fetch(address, { headers, redirect: 'manual' });
    expect((await ask(`http://localhost:${port}/rows`)).status).toBe(401);
    expect((await ask(rows)).headers.get('set-cookie')).toContain('analytics_outbox_read_');
  });

  it('takes batches at its relay from its own pages alone', async () => {
    const { url, port } = await start();
    const send = (origin: string) => {
      const body = { project: 'demo', channel: 'web', event: 'e' };
      const records = [{ id: 'one', type: 'event', body }];
      return fetch(`${url}/a/v1/batch`, {
        method: 'POST',
        headers: { origin, 'content-type': 'text/plain' },
        body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
      });
    };
    const answer = await send(`http://localhost:${port}`);
    expect(await answer.json()).toMatchObject({ results: [{ id: 'one', outcome: 'delivered' }] });
    expect((await send('https://elsewhere.example')).status).toBe(403);
  });

  it('serves its own files and nothing else', async () => {
    const { url } = await start();
    const statuses = await Promise.all(
      ['/demo.css', '/icon.svg', '/package.json', '/__proto__', '/..%2fpackage.json'].map(
        async (path) => (await fetch(url + path)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 404, 404, 404]);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  });
});

it('shows all documents, and each of their links leads to a document and a heading', async () => {
  const demo = await start();
  const ids = new Map<string, string[]>();
  const links: string[] = [];
  const unseen = [`${demo.url}/README.md`];
  for (const url of unseen) {
    const answer = await fetch(url);
    expect(answer.status, url).toBe(200);
    const html = await answer.text();
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    expect(html, url).toMatch(TITLE);
    ids.set(url, all(html, /\sid="([^"]+)"/g));
    const [, main = ''] = html.split('<main');
    for (const href of all(main, /<a\s[^>]*?href="([^"]+)"/g)) {
      const link = new URL(href.replaceAll('&amp;', '&'), url).href;
      if (!link.startsWith(`${demo.url}/`)) continue;
      links.push(link);
      const document = link.replace(/#.*/, '');
      if (!unseen.includes(document)) unseen.push(document);
    }
  }
  expect(ids.size).toBeGreaterThan(20);
  const broken = links.filter((link) => {
    const [document = '', heading] = link.split('#');
    return heading && !ids.get(document)?.includes(decodeURIComponent(heading));
  });
  expect(broken).toEqual([]);
});

it('reads its settings from the environment', () => {
  const settings = readDemoSettings({ PORT: '1', SERVICE_PORT: '', TOKEN: 't', DATABASE: '/x.db' });
  expect(settings).toMatchObject({ token: 't', page: { port: 1, nextFree: false } });
  expect(settings.service).toEqual({ port: 8787, nextFree: true });
});
