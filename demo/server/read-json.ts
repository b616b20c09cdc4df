import { refuse } from './answer';
import { readBody } from './read-body';
import type { ServiceContext } from './service-context';

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** The parsed body, or the answer that refuses it. */
export async function readJson(
  c: ServiceContext,
): Promise<{ ok: true; value: unknown } | { ok: false; response: Response }> {
  if (!JSON_TYPE.test(c.req.header('content-type') ?? '')) return refused(c, 400);
  const body = await readBody(c);
  if (body.kind !== 'text') return refused(c, body.kind === 'too large' ? 413 : 400);
  try {
    return { ok: true, value: JSON.parse(body.text) as unknown };
  } catch {
    return refused(c, 400);
  }
}

const refused = (c: ServiceContext, code: 400 | 413) =>
  ({ ok: false, response: refuse(c, code) }) as const;
