import type { Context, Hono, MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { isObject } from '../../util/is-object.js';
import { readDelays } from '../exports/delays.js';
import type { ProjectHealth } from '../health/health.js';
import { answerJson, refuse } from '../http/answers.js';
import { parseJson } from '../records.js';
import { readBody } from '../http/body.js';
import { createHeldBodies } from '../http/held-bodies.js';
import type { ServiceOptions } from '../service-options.js';
import type { Setup } from '../setup.js';
import type { Count, Span, Store } from '../store/port.js';
import { storableText } from '../store/storable.js';
import { onlyProjectOf, queryOf } from './access.js';
import { formatOf } from './format-of.js';
import { CSV, CSV_WITH_BOM, exportRows, NDJSON, type Download } from './export-rows.js';
import type { Feed } from './feed.js';
import { readPlace } from './place.js';
import {
  check,
  MAX_PROFILES,
  MAX_RESENT,
  inQuotes,
  isString,
  readBothTimes,
  readDeletion,
  readErasure,
  readFilter,
  readHourFilter,
  readLimit,
  readPair,
  readSpan,
  readTimes,
  readUser,
  WrongRequestError,
} from './query.js';
import { FIRST_LOOK_MS, LOOK_MS, partsOf, readBreakdown, readUsers } from './looking-query.js';
import type { ReadingTrouble } from './reading-trouble.js';

/** The body of a request to send refused records again has this many bytes at the most. */
const RESEND_BYTES = 65_536;

interface Parts extends Pick<ServiceOptions, 'page'> {
  store: Store;
  setup: Setup;
  feed: Feed;
  trouble: ReadingTrouble;
  /** The word that stands for a browser. */
  browserOf: (request: Request) => Promise<string | undefined>;
  /** With a project only what concerns it. */
  health: (project: string | undefined) => Promise<ProjectHealth>;
  /** How many answers have refused something, up to now. */
  refusedHours: Store['refusedHours'];
  now: () => number;
}

/** The page runs only its own files, and sends requests only to its own origin. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
const DATA_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Bun had no such stream before its version 1.3. */
const small: MiddlewareHandler =
  'CompressionStream' in globalThis ? compress() : (_, next) => next();

/** Without `by`, each of these asks for a breakdown of rows. */
const BREAKS_DOWN = [
  'event',
  'tag',
  'user',
  'channel',
  'type',
  'not',
  'text',
  'from',
  'to',
  'mine',
];

/** Adds the routes that read, export and erase. `readingAccess` has checked the requests before. */
export const addReadingRoutes = (app: Hono, parts: Parts): void => {
  const { store, setup, feed, trouble, browserOf, health, refusedHours, page, now } = parts;

  const answerRead = (body: object): Response => {
    trouble.worked();
    return answerJson(200, body);
  };

  const showPage = async (file: string): Promise<Response> => {
    const found = await page?.(file);
    if (!found) return refuse(404);
    const headers = { ...PAGE_HEADERS, 'content-type': found.type };
    return new Response(found.body, { headers });
  };

  /** Answers with a file of the rows that match. A limit of the query holds for all of it. */
  const exported = async (c: Context, name: string, file: Omit<Download, 'request'>) => {
    const { method, path } = c.req;
    const limit = c.req.query('limit');
    const span = { ...file.span, limit: limit ? Number(limit) : undefined };
    const download = { ...file, span, request: `${method} ${path}` };
    const stream = method === 'HEAD' ? null : await exportRows(parts, download);
    const headers = {
      ...{ ...DATA_HEADERS, 'content-type': file.format.type },
      'content-disposition': `attachment; filename="${name}"`,
    };
    return new Response(stream, { headers });
  };

  const showRows = async (c: Context): Promise<Response> => {
    const request = c.req.raw;
    const query = queryOf(c);
    const format = formatOf(request);
    if (format === 'html' && page) return showPage('index.html');
    const filter = readFilter(query, await browserOf(request));
    const span = readSpan(query);
    const isBrief = query.get('brief') === '1';
    switch (format) {
      case 'html':
      case 'json': {
        if (isBrief) {
          const { rows, looked } = await store.search(filter, span, LOOK_MS);
          return answerRead({ rows, next: nextOf(rows, span), looked });
        }
        const rows = await store.rows(filter, span);
        return answerRead({ rows, next: nextOf(rows, span) });
      }
      case 'ndjson':
        return exported(c, 'rows.ndjson', { filter, span, format: NDJSON });
      case 'csv': {
        const csv = query.get('bom') === '1' ? CSV_WITH_BOM : CSV;
        return exported(c, 'rows.csv', { filter, span, format: csv });
      }
      case 'sse': {
        if (feed.isFull()) return refuse(503, { waitMs: 5_000 });
        const place = request.headers.get('last-event-id') ?? query.get('after');
        const headers = { ...DATA_HEADERS, 'content-type': 'text/event-stream' };
        // Without this header nginx would buffer the events.
        // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
        const stream =
          request.method === 'HEAD'
            ? null
            : await feed.open({
                ...{ filter, asked: readPlace(place), onlyProject: onlyProjectOf(c) },
                lookMs: isBrief ? FIRST_LOOK_MS : undefined,
              });
        return new Response(stream, { headers: { ...headers, 'x-accel-buffering': 'no' } });
      }
      default:
        throw new WrongRequestError('`format` must be json, ndjson, csv or sse');
    }
  };

  const showRefused = async (c: Context): Promise<Response> => {
    const query = queryOf(c);
    const span = readSpan(query);
    const refused = await store.refused(span, query.get('project') || undefined);
    return answerRead({ refused, next: nextOf(refused, span) });
  };

  const resend = async (c: Context): Promise<Response> => {
    const body = await readBody(c.req.raw, createHeldBodies({ all: RESEND_BYTES })('', ''));
    const parsed = typeof body === 'string' ? parseJson(body) : undefined;
    const seqs = isObject(parsed) ? parsed['seqs'] : undefined;
    const isFine =
      Array.isArray(seqs) && seqs.length <= MAX_RESENT && seqs.every(Number.isSafeInteger);
    check(isFine, `the body must be { "seqs": […] }, with ${MAX_RESENT} whole numbers at the most`);
    return answerRead({ results: await store.resend([...new Set(seqs as number[])]) });
  };

  const showProfiles = async (c: Context): Promise<Response> => {
    const query = queryOf(c);
    const limit = readLimit(query, MAX_PROFILES);
    const place = readPair<[project: string, user_id: string]>(query, isString);
    const after = place && { project: place[0], user_id: place[1] };
    const [project, user_id] = [query.get('project') || undefined, query.get('user') || undefined];
    const profiles = await store.profiles({ project, user_id }, { after, limit });
    const last = profiles.length === limit && profiles.at(-1);
    const next = last ? JSON.stringify([last.project, last.user_id]) : undefined;
    return answerRead({ profiles, next });
  };

  /** How many rows a filter has, and each of its parts. */
  const showFilter = async (c: Context, query: URLSearchParams): Promise<Response> => {
    const filter = readFilter(query, await browserOf(c.req.raw));
    const parts = partsOf(filter, onlyProjectOf(c));
    const all = [filter, ...parts.map((part) => part.filter)];
    const { counts, looked } = await store.count(all, LOOK_MS);
    const filters = parts.map(({ name, value }, at) => ({ name, value, ...counts[at + 1]! }));
    return answerRead({ ...counts[0]!, filters, looked });
  };
  const showBreakdown = async (c: Context, query: URLSearchParams): Promise<Response> => {
    const { filter, tags } = readBreakdown(query, await browserOf(c.req.raw), now());
    return answerRead(await store.breakdown(filter, tags, LOOK_MS));
  };

  const showCounts = async (c: Context): Promise<Response> => {
    const query = queryOf(c);
    const by = query.get('by');
    if (by === 'hour') return answerRead(await store.hours(readHourFilter(query, now())));
    if (by === 'refused')
      return answerRead({ refused: await refusedHours(readHourFilter(query, now())) });
    if (by === 'filter') return showFilter(c, query);
    check(!by, '`by` must be hour, refused or filter');
    if (BREAKS_DOWN.some((name) => query.get(name))) return showBreakdown(c, query);
    const project = query.get('project') || undefined;
    const [all, refused] = await Promise.all([store.counts(), store.countRefused(project)]);
    const isAsked = (one: Count) => project === undefined || one.project === storableText(project);
    const counts = all.filter(isAsked);
    return answerRead({ counts, refused });
  };

  const showOutages = async (c: Context): Promise<Response> => {
    return answerRead({ outages: await store.outages(readTimes(queryOf(c), now())) });
  };

  /** How many rows were called in a time, and arrived after it. */
  const showLater = async (c: Context): Promise<Response> => {
    const { rows, isAll } = await store.countLater(readBothTimes(queryOf(c)));
    return answerRead({ rows, is_all: isAll });
  };

  const showUsers = async (query: URLSearchParams): Promise<Response> => {
    const { next, ...found } = await store.users(readUsers(query), LOOK_MS);
    return answerRead({ ...found, ...(next && { next: JSON.stringify(next) }) });
  };

  const showUser = async (c: Context): Promise<Response> => {
    const query = queryOf(c);
    if (!query.has('user')) return showUsers(query);
    const filter = readUser(query);
    const span = readSpan(query);
    const [profile] = await store.profiles(filter, { limit: 1 });
    switch (formatOf(c.req.raw)) {
      case 'html':
      case 'json': {
        const rows = await store.rows(filter, span);
        return answerRead({ profile, rows, next: nextOf(rows, span) });
      }
      case 'ndjson': {
        const format = { ...NDJSON, head: profile ? `${JSON.stringify(profile)}\n` : '' };
        return exported(c, 'user.ndjson', { format, filter, span });
      }
      default:
        throw new WrongRequestError('`format` must be json or ndjson');
    }
  };

  const deleteRows = async (c: Context): Promise<Response> => {
    const { erased, upto } = readDeletion(queryOf(c));
    if (upto !== undefined) return answerRead({ deleted: await store.erase(erased, upto) });
    const counted = await store.countErased(erased);
    const message = `There are no such rows: ${inQuotes(erased)}`;
    return answerRead({ ...counted, ...(!counted.rows && { message }) });
  };

  const erase = async (c: Context): Promise<Response> => {
    const user = readErasure(queryOf(c));
    const [profile] = await store.profiles(user, { limit: 1 });
    const deleted = await store.erase(user);
    const message = profile
      ? 'There were no rows. The profile is deleted'
      : `Nobody of this name is there: ${inQuotes({ project: user.project, user: user.user_id })}`;
    return answerRead({ deleted, ...(!deleted && { message }) });
  };

  app.get('/rows', showRows);
  app.delete('/rows', deleteRows);
  app.get('/rows/:file', small, (c) => showPage(c.req.param('file')));
  app.get('/refused', showRefused);
  app.post('/refused/resend', resend);
  app.get('/profiles', showProfiles);
  app.get('/counts', showCounts);
  app.get('/users', showUser);
  app.delete('/users', erase);
  app.get('/exports', async () => answerRead({ targets: await readDelays(store, now()) }));
  app.get('/setup', () => answerJson(200, setup.state()));
  app.get('/outages', showOutages);
  app.get('/outages/later', showLater);
  app.get('/health', async (c) => {
    const known = await health(onlyProjectOf(c));
    return answerJson(known.status === 'ok' ? 200 : 503, known);
  });
};

/** The highest place of a page, in either order. Later rows have higher places. */
const nextOf = (page: readonly { seq: number }[], { after = 0 }: Span): number =>
  Math.max(after, ...page.map(({ seq }) => seq));
