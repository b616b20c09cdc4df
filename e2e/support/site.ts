import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { DIST_FOLDER } from './dist.js';
import { readStaticFile, type StaticFile } from './static-files.js';

type Headers = Record<string, string>;

/** How a folder of files is served. */
export interface MountOptions {
  /** Changes each HTML page on its way, such as to add the tag to a site that is not ours. */
  html?: (source: string) => string;
  /** Changes each script on its way, such as to name the test's own service. */
  script?: (source: string) => string;
  /** File that answers where there is none: `/index.html` for a single-page app. */
  fallback?: string;
}

interface Mount extends MountOptions {
  prefix: string;
  folder: string;
}

export type Site = Awaited<ReturnType<typeof createSite>>;

/**
 * A website: another origin than the service, on its own port, with pages that a test writes and the
 * built files under `/dist/`. It answers under two hosts, so that a walk between them is cross-site.
 */
export const createSite = async () => {
  const pages = new Map<string, StaticFile>();
  const headers = new Map<string, Headers>();
  const gates = new Map<string, () => Promise<unknown>>();
  const mounts: Mount[] = [{ prefix: '/dist/', folder: DIST_FOLDER }];
  const handlers = new Map<string, RequestListener>();
  const requests: string[] = [];

  const fromMounts = async (path: string): Promise<StaticFile | undefined> => {
    const mount = mounts.findLast(({ prefix }) => path.startsWith(prefix));
    if (!mount) return undefined;
    const { prefix, folder, fallback, html, script } = mount;
    const file =
      (await readStaticFile(folder, `/${path.slice(prefix.length)}`)) ??
      (fallback ? await readStaticFile(folder, fallback) : undefined);
    const change = { html, javascript: script }[/^text\/(\w+)/.exec(file?.type ?? '')?.[1] ?? ''];
    return file && change ? { ...file, body: Buffer.from(change(file.body.toString())) } : file;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent(new URL(request.url!, 'http://site').pathname);
    requests.push(`${request.method} ${request.url}`);
    const handler = [...handlers].find(([prefix]) => path.startsWith(prefix))?.[1];
    if (handler) return void handler(request, response);
    await gates.get(path)?.();
    const file = pages.get(path) ?? (await fromMounts(path));
    const extra = { ...headers.get('*'), ...headers.get(path) };
    if (!file) {
      response.writeHead(path === '/favicon.ico' ? 204 : 404, extra).end();
      return;
    }
    // Not `no-store`: that keeps a page out of the back/forward cache.
    response.writeHead(200, { 'content-type': file.type, 'cache-control': 'no-cache', ...extra });
    response.end(file.body);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  return {
    url,
    /** The same pages as another site: cross-site to `url`. */
    otherUrl: `http://localhost:${port}`,
    /** Every request so far, as `GET /a.html`. */
    requests,
    /** Puts a page there, or another in its place. Answers with its address. */
    page: (path: string, html: string, extra?: Headers): string => {
      pages.set(path, { type: 'text/html; charset=utf-8', body: Buffer.from(html) });
      if (extra) headers.set(path, extra);
      return url + path;
    },
    /** Puts a file there. */
    file: (path: string, body: string, type = 'text/javascript'): string => {
      pages.set(path, { type, body: Buffer.from(body) });
      return url + path;
    },
    /** Leaves all requests under a prefix that ends in `/` to somebody else. */
    handle: (prefix: string, handler: RequestListener): void => void handlers.set(prefix, handler),
    /** Response headers of one path, or of all (`*`). */
    headers: (path: string, extra: Headers): void => void headers.set(path, extra),
    /** Answers nothing for a path until the function it returns is called. */
    hold: (path: string): (() => void) => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      gates.set(path, () => released);
      return release;
    },
    /** Serves a folder under a prefix that ends in `/`. The last one that fits wins. */
    mount: (prefix: string, folder: string, options: MountOptions = {}): void =>
      void mounts.push({ prefix, folder, ...options }),
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Or it would wait for what the browser keeps open and for pages still on hold.
        server.closeAllConnections();
      }),
  };
};
