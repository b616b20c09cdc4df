import type { HealthWord } from './health.js';
import type { TestEvent } from './setup.js';
import type {
  Count,
  Found,
  Hours,
  Outage,
  Profile,
  Refused,
  RefusedCount,
  Row,
} from '../../../store/port.js';

/** What the service answered, with its own words if it gave any. */
export const messageOf = async (response: Response): Promise<string> => {
  const body: unknown = await response.json().catch(() => undefined);
  const message = (body as { message?: unknown } | undefined)?.message;
  return `The service answered ${response.status}${typeof message === 'string' ? `: ${message}` : ''}`;
};

/** Sends a test event, and answers what is wrong, in words, if anything is. */
export const sendTest = async ({
  address,
  headers,
  body,
}: TestEvent): Promise<string | undefined> => {
  try {
    const response = await fetch(address, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return response.ok ? undefined : await messageOf(response);
  } catch {
    return 'The service does not answer. Try again.';
  }
};

/** What became of a dead record that was sent again. */
export interface Resent {
  seq: number;
  outcome: 'stored' | 'known' | 'dead';
  message?: string;
}

/** A browser has six connections for all tabs of an origin: with more tabs a request may not even begin. */
const PATIENCE_MS = 30_000;

type Query = Readonly<Record<string, string | number | undefined>>;

/** A query, and beside it all that has a value. */
const queryWith = (more: Query, query?: URLSearchParams): URLSearchParams => {
  const whole = new URLSearchParams(query);
  for (const [name, value] of Object.entries(more))
    if (value !== undefined) whole.set(name, String(value));
  return whole;
};

/** Asks at a path beside the page's own: the service may stand under a path of a site, of which it does not know. */
export const ask = async <Answer>(
  path: string,
  query: Query | URLSearchParams = {},
  init?: RequestInit,
): Promise<Answer> => {
  const headers = { accept: 'application/json', ...init?.headers };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const asked = query instanceof URLSearchParams ? query : queryWith(query);
  const address = asked.size ? `${path}?${asked}` : path;
  const response = await fetch(address, { ...init, headers, signal, cache: 'no-store' });
  if (!response.ok) throw new Error(`The service answered ${response.status}`);
  return (await response.json()) as Answer;
};

/** Rows that stand before this place, newest first; the newest of all without one. The service looks for a second or two. */
export const readOlder = (
  query: URLSearchParams,
  before: number | undefined,
  limit: number,
): Promise<Found> =>
  ask('rows', queryWith({ format: 'json', before, newest: 1, limit, brief: 1 }, query));

/** One row as it is now. */
export const readRow = async (seq: number): Promise<Row | undefined> => {
  const query = { format: 'json', after: seq - 1, before: seq + 1, limit: 1 };
  return (await ask<Found>('rows', query)).rows.find((row) => row.seq === seq);
};

/** The service answers with at most so many. */
const PAGE = 1000;

/** All that was refused and is kept, newest first. */
export const readAllRefused = async (): Promise<Refused[]> => {
  const all: Refused[] = [];
  for (;;) {
    const query = { newest: 1, limit: PAGE, before: all.at(-1)?.seq };
    const { refused } = await ask<{ refused: Refused[] }>('refused', query);
    all.push(...refused);
    if (refused.length < PAGE) return all;
  }
};

export const readCounts = async (): Promise<Count[]> =>
  (await ask<{ counts: Count[] }>('counts')).counts;

/** The sums of the hours of a time, by event. */
export const readHours = (query: Record<string, string>): Promise<Hours> =>
  ask('counts', { by: 'hour', split: 'event', ...query });

/** How many answers have refused something, by hour and reason. */
export const readRefusedHours = async (query: Record<string, string>): Promise<RefusedCount[]> =>
  (await ask<{ refused: RefusedCount[] }>('counts', { by: 'refused', ...query })).refused;

/** The times in which no rows were stored. */
export const readOutages = async (query: Record<string, string>): Promise<Outage[]> =>
  (await ask<{ outages: Outage[] }>('outages', query)).outages;

/** How many rows were called in a time and came after it. */
export const countLater = ({
  from,
  to,
}: Pick<Outage, 'from' | 'to'>): Promise<{ rows: number; is_all: boolean }> =>
  ask('outages/later', { from, to });

/** What the service says of itself; undefined if it does not answer. */
export const readHealth = async (): Promise<HealthWord | undefined> => {
  try {
    const signal = AbortSignal.timeout(HEALTH_MS);
    const response = await fetch('health', { signal, cache: 'no-store' });
    // It is answered 503 while rows are not stored.
    const body = (await response.json()) as Partial<HealthWord>;
    return body.storing ? (body as HealthWord) : undefined;
  } catch {
    return undefined;
  }
};
const HEALTH_MS = 3_000;

/** The rows that match, newest first, as far as this many pages go. */
export const readPages = async (
  query: Record<string, string>,
  pages: number,
): Promise<{ rows: Row[]; isAll: boolean }> => {
  const rows: Row[] = [];
  let before: number | undefined;
  for (let page = 0; page < pages; page++) {
    const { rows: more, looked } = await readOlder(new URLSearchParams(query), before, PAGE);
    rows.push(...more);
    if (looked.is_all) return { rows, isAll: true };
    before = looked.place;
  }
  return { rows, isAll: false };
};

/** What is known of a user: the profile, and the newest rows, or those before a place. */
export const readUser = (
  person: { project: string; user: string },
  before?: number,
): Promise<{ profile: Profile | undefined; rows: Row[] }> =>
  ask('users', { ...person, newest: 1, limit: USER_ROWS, before });
/** Rows of a user in one answer. */
export const USER_ROWS = 500;

/** Erases a user, and answers how many rows there were. */
export const eraseUser = async (person: { project: string; user: string }): Promise<number> =>
  (await ask<{ deleted: number }>('users', { ...person }, { method: 'DELETE' })).deleted;

export const resend = async (seqs: readonly number[]): Promise<Resent[]> => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ seqs });
  const init = { method: 'POST', headers, body };
  return (await ask<{ results: Resent[] }>('refused/resend', {}, init)).results;
};

/** Gives the service the read token, for which it sets a cookie. Answers what is wrong, in words, if anything is. */
export const unlock = async (token: string): Promise<string | undefined> => {
  // JSON, since a browser that asks for a page gets the page whatever the token is.
  const headers = { accept: 'application/json' };
  const address = `rows?${new URLSearchParams({ token })}`;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(address, {
      headers,
      redirect: 'manual',
      cache: 'no-store',
      signal,
    });
    if (response.ok || response.type === 'opaqueredirect') return undefined;
    return response.status === 401
      ? 'The service does not know this token.'
      : `The service answered ${response.status}. Try again.`;
  } catch {
    return 'The service does not answer. Try again.';
  }
};
