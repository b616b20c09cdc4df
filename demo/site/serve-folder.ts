import { readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mayFail } from '../../src/util/may-fail.js';

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

const typeOf = ({ pathname }: URL): string =>
  TYPES[pathname.replace(/.*\./, '')] ?? 'application/octet-stream';

/** The file that a path of the site leads to. A URL takes away `..`, so what is left begins with the folder or is refused. */
const fileAt = (folder: URL, path: string): URL | undefined =>
  mayFail(() => {
    const file = new URL(`.${path.replace(/\/$/, '/index.html')}`, folder);
    const isInside = file.href.startsWith(folder.href) && !/%2f|%5c/i.test(file.href);
    return isInside && statSync(file).isFile() ? file : undefined;
  });

/**
 * Serves what a tool has built into a folder, such as the documentation site. Returns whether it has answered: not where
 * the folder has no such file, or has not been built.
 * @param at path of the folder on this server, such as `/docs`
 */
export const createFolder =
  (folder: URL, at: string) =>
  ({ method, url = '', headers }: IncomingMessage, response: ServerResponse): boolean => {
    const [path = ''] = url.split(/[?#]/);
    if (method !== 'GET' && method !== 'HEAD') return false;
    const leadTo = (location: string): boolean => {
      response.writeHead(302, { location, vary: 'accept' }).end();
      return true;
    };
    if (path === at) return leadTo(`${at}/`);
    if (!path.startsWith(`${at}/`)) return false;
    const find = (name: string) => fileAt(folder, name.slice(at.length));
    // Somebody who reads wants the page. Tools take the Markdown beside it.
    const page = path.replace(/\.md$/, '.html');
    if (page !== path && headers.accept?.includes('text/html') && find(page)) return leadTo(page);
    const file = find(path);
    if (!file) return false;
    response.writeHead(200, {
      'content-type': typeOf(file),
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    });
    response.end(method === 'HEAD' ? undefined : readFileSync(file));
    return true;
  };
