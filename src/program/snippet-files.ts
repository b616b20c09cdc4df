import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

/** The paths of the files that pages load. */
const FILE = /^\/((?:outbox(?:-\w+)?|stub)\.js(?:\.map)?)$/;

interface Snippet {
  body: string;
  etag: string;
  changedMs: number;
}

/**
 * Serves the snippet's files, which are beside the program. Any page may load them, with an integrity hash too.
 * @param maxAgeS how long a browser may use one without asking
 */
export const createSnippetFiles = (folder: URL, maxAgeS: number) => {
  const known = new Map<string, Snippet>();

  const read = async (name: string): Promise<Snippet | undefined> => {
    const file = new URL(name, folder);
    const changed = await stat(file).catch(() => undefined);
    if (!changed) return undefined;
    const cached = known.get(name);
    if (cached?.changedMs === changed.mtimeMs) return cached;
    const body = await readFile(file, 'utf8');
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const snippet = { body, etag, changedMs: changed.mtimeMs };
    known.set(name, snippet);
    return snippet;
  };

  /** Answers a request for one of the files; undefined if it asks for something else. */
  return async (request: Request): Promise<Response | undefined> => {
    const { method, headers, url } = request;
    const name = FILE.exec(new URL(url).pathname)?.[1];
    if (!name || (method !== 'GET' && method !== 'HEAD')) return undefined;
    const snippet = await read(name);
    if (!snippet) return undefined;
    const all = {
      'content-type': name.endsWith('.map') ? 'application/json' : 'text/javascript; charset=utf-8',
      'cache-control': maxAgeS ? `public, max-age=${maxAgeS}` : 'no-cache',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      etag: snippet.etag,
    };
    if (headers.get('if-none-match') === snippet.etag)
      return new Response(null, { status: 304, headers: all });
    return new Response(method === 'HEAD' ? null : snippet.body, { headers: all });
  };
};
