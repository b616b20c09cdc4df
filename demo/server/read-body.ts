import type { ServiceContext } from './service-context';

/** The interface names no limit; this is the one of the demo service. */
export const MAX_BODY_BYTES = 1024 * 1024;

export type RequestBody = { kind: 'text'; text: string } | { kind: 'too large' | 'unreadable' };

/** Reads the body once, however many ask. */
export function readBody(c: ServiceContext): Promise<RequestBody> {
  const known = c.get('body') as Promise<RequestBody> | undefined;
  if (known) return known;
  const body = read(c.req.raw);
  c.set('body', body);
  return body;
}

async function read(request: Request): Promise<RequestBody> {
  if (Number(request.headers.get('content-length')) > MAX_BODY_BYTES) return { kind: 'too large' };
  try {
    const bytes = await readBytes(request);
    if (bytes.length > MAX_BODY_BYTES) return { kind: 'too large' };
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    // Not UTF-8, or the client went away in the middle of it.
    return { kind: 'unreadable' };
  }
}

/** With a length given, the HTTP parser holds the client to it; without, every chunk is counted. */
async function readBytes(request: Request): Promise<Uint8Array> {
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) break;
  }
  return Buffer.concat(chunks);
}
