import { DEFAULT_LIMIT, type Page } from './read-records';
import type { ServiceContext } from './service-context';

const MAX_LIMIT = 10_000;

/** The page a query string asks for, or `undefined` when a number in it is none. */
export function readPage(c: ServiceContext): Page | undefined {
  const after = readCount(c.req.query('after'), 0);
  const limit = readCount(c.req.query('limit'), DEFAULT_LIMIT);
  if (after === undefined || limit === undefined) return undefined;
  return {
    project: c.req.query('project') || undefined,
    user_id: c.req.query('user_id') || undefined,
    after,
    limit: Math.min(limit, MAX_LIMIT),
  };
}

function readCount(text: string | undefined, fallback: number): number | undefined {
  if (!text) return fallback;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
