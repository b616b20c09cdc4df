import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** The paths of the files that pages load. */
const FILE = /^\/((?:outbox(?:-\w+)?|stub)\.js(?:\.map)?)$/;

/** How a file may be compressed, the smallest form first. */
const CODINGS = [
  ['br', promisify<Buffer, Buffer>(brotliCompress)],
  ['gzip', promisify<Buffer, Buffer>(gzip)],
] as const;

/** Whether a request takes an answer that is compressed in this way. */
const accepts = ({ headers }: Request, coding: string): boolean => {
  const [, weight = '1'] = new RegExp(
    `(?:^|,)\\s*${coding}\\s*(?:;\\s*q=([\\d.]+)\\s*)?(?:,|$)`,
    'i',
  ).exec(headers.get('accept-encoding') ?? '') ?? ['', '0'];
  return Number(weight) > 0;
};

/**
 * Whether a request names a file that it has already, by the hash in its tag. Proxies that compress make a tag weak
 * (`W/"…"`) or add to its end (`"…-gzip"`). https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
 */
const hasFile = ({ headers }: Request, hash: string): boolean => {
  const known = headers.get('if-none-match') ?? '';
  return known.trim() === '*' || known.includes(`"${hash}`);
};

interface Snippet {
  body: Buffer;
  hash: string;
  changedMs: number;
  /** The compressed forms, each made when it is asked for first. */
  compressed: Map<string, Promise<Buffer>>;
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
    const body = await readFile(file);
    const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
    const snippet = { body, hash, changedMs: changed.mtimeMs, compressed: new Map() };
    known.set(name, snippet);
    return snippet;
  };
  const compress = ({ body, compressed }: Snippet, [name, compress]: (typeof CODINGS)[number]) => {
    const made = compressed.get(name) ?? compress(body);
    compressed.set(name, made);
    return made;
  };

  /** Answers a request for one of the files; undefined if it asks for something else. */
  return async (request: Request): Promise<Response | undefined> => {
    const { method, url } = request;
    const name = FILE.exec(new URL(url).pathname)?.[1];
    if (!name || (method !== 'GET' && method !== 'HEAD')) return undefined;
    const snippet = await read(name);
    if (!snippet) return undefined;
    const coding = CODINGS.find(([coding]) => accepts(request, coding));
    const all = {
      'content-type': name.endsWith('.map') ? 'application/json' : 'text/javascript; charset=utf-8',
      'cache-control': maxAgeS ? `public, max-age=${maxAgeS}` : 'no-cache',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      etag: `"${snippet.hash}${coding ? `-${coding[0]}` : ''}"`,
    };
    if (hasFile(request, snippet.hash)) return new Response(null, { status: 304, headers: all });
    const headers = { ...all, ...(coding && { 'content-encoding': coding[0] }) };
    if (method === 'HEAD') return new Response(null, { headers });
    const bytes = coding ? await compress(snippet, coding) : snippet.body;
    return new Response(new Uint8Array(bytes), { headers });
  };
};
