import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createFolder } from './serve-folder.js';
import { fillIn, showDocument } from './show-document.js';

interface PageFile {
  /** Seen from this file and from the built one alike. */
  from: string;
  type: string;
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const SVG = 'image/svg+xml';
/** Shown as HTML. */
const MARKDOWN = 'text/markdown';
const TYPES: Readonly<Record<string, string>> = {
  ...{ html: HTML, js: SCRIPT, svg: SVG, md: MARKDOWN },
  ...{ css: 'text/css; charset=utf-8', map: 'application/json' },
};
const typeOf = (path: string): string => TYPES[path.split('.').at(-1)!] ?? 'text/plain';

const file = (from: string, type = typeOf(from)): PageFile => ({ from, type });
const filesIn = (folder: string, names: readonly string[], at = '/') =>
  Object.fromEntries(names.map((name) => [at + name, file(`../../${folder}/${name}`)]));
const DOCUMENTS = readdirSync(new URL('../../docs', import.meta.url)).filter((name) =>
  name.endsWith('.md'),
);

const SNIPPET = ['outbox', 'outbox-dev', 'outbox-relay', 'outbox-auto', 'outbox-inspector'];
const withMaps = (names: readonly string[]) =>
  names.flatMap((name) => [`${name}.js`, `${name}.js.map`]);

/** All there is: nothing else of the project can be asked for. */
export const FILES: Readonly<Record<string, PageFile | undefined>> = Object.assign(
  Object.create(null) as object,
  {
    '/': file('../page/index.html'),
    '/relay': file('../page/index.html'),
    ...Object.fromEntries(
      ['', '/relay'].flatMap((form) =>
        ['tab', 'away'].map((name) => [`${form}/${name}`, file(`../page/${name}.html`)]),
      ),
    ),
    ...filesIn('demo/page', ['demo.css', 'tab.css', 'document.css', 'icon.svg']),
    ...filesIn('demo/dist', withMaps(['page', 'tab'])),
    ...filesIn('dist', [...withMaps(SNIPPET), 'stub.js']),
    ...filesIn('dist/rows', ['show.css'], '/rows/'),
    ...filesIn('.', ['README.md', 'CHANGELOG.md', 'LICENSE']),
    ...filesIn('docs', DOCUMENTS, '/docs/'),
  },
);

/** The documentation site, where `node site/build.mjs` has made it, and pictures. Without it the pages stand there as they are. */
const FOLDERS = Object.entries({
  '/docs': 'site/dist/docs/',
  '/docs/pictures': 'docs/pictures/',
}).map(([at, folder]) => createFolder(new URL(`../../${folder}`, import.meta.url), at));

const DOCUMENT_PAGE = file('../page/document.html');

/** Read anew each time, so that a rebuild shows without a restart. */
const read = ({ from }: PageFile): Promise<string> =>
  readFile(new URL(from, import.meta.url), 'utf8');

/** A file that `npm run dev` has just built, in place of the one that is served. */
const freshFile = (fresh: URL | undefined, path: string): PageFile | undefined => {
  const name = /^\/([\w-]+\.(js|txt))$/.exec(path)?.[1];
  const url = name && fresh && new URL(name, fresh);
  return url && existsSync(url) ? file(url.href) : undefined;
};

const HOST = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The service as the browser can reach it: under the name it has used for the page, on the service's port. Undefined
 * for a `Host` that is no host: it goes into the page and its policy.
 */
const serviceAddress = (host: string | undefined, port: number): string | undefined => {
  const name = HOST.exec(host ?? '')?.[1];
  return name && `http://${name}:${port}`;
};

/** A strict policy: the script tag must work where a careful website would put it. */
const headersFor = (nonce: string, service: string): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'self'",
    `connect-src 'self' ${service}`,
    `script-src 'self' 'nonce-${nonce}'`,
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'", // the stage shows its tabs in frames
    "require-trusted-types-for 'script'",
  ].join('; '),
  // Not `no-store`: that keeps a page out of the back/forward cache.
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});

interface Parts {
  servicePort: number;
  token: string;
  project: string;
  /** Path of the relay on this site. */
  relayPath: string;
  /** The tag to copy, with the service's own address. */
  tag: string;
  /** The folder of files that have been built just now. */
  fresh: URL | undefined;
  /** Answers what is sent to the relay. */
  relay: RequestListener;
  /** Answers what is asked of the service's rows and faults. */
  service: RequestListener;
}

/** Serves the demo: its pages, and the built files as a website would have them. */
export const createPageHandler = (parts: Parts): RequestListener => {
  const { token, project, tag, relayPath } = parts;

  /** What differs between the two forms. Through the relay the page has no token at all. */
  const formOf = (path: string, service: string) => {
    const isRelay = path.startsWith('/relay');
    const script = isRelay ? '/outbox-relay.js' : '/outbox.js';
    const form = isRelay
      ? { relay: relayPath, baseUrl: undefined, token: undefined }
      : { relay: undefined, baseUrl: service, token };
    return { ...form, script, home: isRelay ? '/relay' : '/' };
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    const [path = '/'] = (request.url ?? '/').split('?');
    if (path === '/docs/') {
      // The site is not built: the documents are shown as they are.
      response.writeHead(302, { location: '/README.md' }).end();
      return;
    }
    const found = freshFile(parts.fresh, path) ?? FILES[path];
    const service = serviceAddress(request.headers.host, parts.servicePort);
    if (!found || !service) {
      response.writeHead(found ? 400 : 404, { 'content-type': 'text/plain' }).end('Not found\n');
      return;
    }
    // Each answer its own nonce.
    const nonce = randomBytes(16).toString('base64');
    let { type } = found;
    let body = await read(found);
    if (type === MARKDOWN) {
      type = HTML;
      body = showDocument(await read(DOCUMENT_PAGE), body);
    } else if (type === HTML) {
      const stub = await read(FILES['/stub.js']!);
      const form = formOf(path, service);
      body = fillIn(body, { ...form, project, nonce, service, stub, tag });
    }
    const headers = headersFor(nonce, service);
    // A tag with a hash, on a page of another origin, may load the scripts.
    if (type === SCRIPT) headers['access-control-allow-origin'] = '*';
    response.writeHead(200, { 'content-type': type, ...headers });
    response.end(request.method === 'HEAD' ? undefined : body);
  };

  return (request, response): void => {
    const { url = '/' } = request;
    if (url.startsWith(`${relayPath}/`)) return parts.relay(request, response);
    if (url.startsWith('/_/')) return parts.service(request, response);
    // Beside its pages the site has their texts, which are shown as documents here.
    const isDocument = /\.md($|\?)/.test(url);
    if (!isDocument && FOLDERS.some((serve) => serve(request, response))) return;
    answer(request, response).catch((error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'; // not built yet
      if (!isMissing) console.error(error);
      const [status, words] = isMissing ? [404, 'Not found'] : [500, 'Internal server error'];
      response.writeHead(status, { 'content-type': 'text/plain' }).end(`${words}\n`);
    });
  };
};
