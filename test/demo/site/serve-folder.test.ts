import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolder } from '../../../demo/site/serve-folder.js';
import { tempFolder } from '../../support/temp-folder.js';

const serve = async () => {
  const root = tempFolder();
  mkdirSync(join(root, 'docs/api'), { recursive: true });
  writeFileSync(join(root, 'docs/index.html'), 'home');
  writeFileSync(join(root, 'docs/api/types.html'), 'types');
  writeFileSync(join(root, 'docs/api/types.md'), '# types');
  writeFileSync(join(root, 'secret.txt'), 'secret');
  const folder = createFolder(pathToFileURL(`${join(root, 'docs')}/`), '/docs');
  const server = createServer((request, response) => {
    if (!folder(request, response)) response.writeHead(404).end('not here');
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  /** Sends the path as it is: `fetch` would take the dots away. */
  return (path: string, headers = {}) =>
    new Promise<string>((done) => {
      get({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
        const { 'content-type': type = '', location = '' } = answer.headers;
        let text = `${answer.statusCode} ${type}${location} `;
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => done(text));
      });
    });
};

describe('a folder that the demo serves', () => {
  it('answers with its files, and with the page of a folder', async () => {
    const ask = await serve();
    expect(await ask('/docs/')).toBe('200 text/html; charset=utf-8 home');
    expect(await ask('/docs/api/types.html?a=1')).toBe('200 text/html; charset=utf-8 types');
    expect(await ask('/docs')).toBe('302 /docs/ ');
  });

  it('answers a tool with the Markdown beside a page, and leads a reader to the page', async () => {
    const ask = await serve();
    expect(await ask('/docs/api/types.md')).toBe('200 text/markdown; charset=utf-8 # types');
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    expect(await ask('/docs/api/types.md', { accept })).toBe('302 /docs/api/types.html ');
    expect(await ask('/docs/none.md', { accept })).toBe('404  not here');
  });

  it('leaves all others to the server', async () => {
    const ask = await serve();
    for (const path of ['/docs/none.html', '/docs/api', '/other', '/docsindex.html']) {
      expect(await ask(path)).toBe('404  not here');
    }
  });

  it.each([
    '/docs/../secret.txt',
    '/docs/%2e%2e/secret.txt',
    '/docs/..%2fsecret.txt',
    '/docs//etc/passwd',
  ])('keeps inside for %s', async (path) => {
    const ask = await serve();
    expect(await ask(path)).toBe('404  not here');
  });
});
