import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { FIELDS } from '../../src/interface/validate.js';
import { OPENAPI } from '../../src/server/openapi.js';
import { tempFolder } from '../support/temp-folder.js';
import { refuseRows } from './support/refuse-rows.js';
import { event, identify, runService, TOKEN } from './support/run-service.js';

const READ = 'a-read-token-for-tests';
const page = () => ({ body: 'run()', type: 'text/javascript' });

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  oneOf?: Schema[];
  format?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  maxItems?: number;
  maxLength?: number;
  maxProperties?: number;
}
interface Operation {
  parameters?: { name: string; in: string }[];
  responses: Record<string, { content: Record<string, { schema: Schema }>; headers?: object }>;
}
const paths = OPENAPI.paths as unknown as Record<string, Record<string, Operation>>;
const schemas = OPENAPI.components.schemas as unknown as Record<string, Schema>;

const typeOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

/** All in which a value is not what the schema says. */
const faults = (value: unknown, schema: Schema, at = '$'): string[] => {
  if (schema.$ref) return faults(value, schemas[schema.$ref.split('/').at(-1)!]!, at);
  if (schema.oneOf) {
    const all = schema.oneOf.map((one) => faults(value, one, at));
    return all.filter(({ length }) => !length).length === 1 ? [] : all.flat();
  }
  if (schema.const !== undefined) return value === schema.const ? [] : [`${at} is no constant`];
  if (schema.enum) return schema.enum.includes(value) ? [] : [`${at} is ${String(value)}`];
  if (schema.type === 'number' && typeof value === 'number') return [];
  if (schema.type !== typeOf(value)) return [`${at} is of type ${typeOf(value)}`];
  if (schema.format && Number.isNaN(Date.parse(value as string))) return [`${at} is no time`];
  if (schema.items) {
    return (value as unknown[]).flatMap((item, n) => faults(item, schema.items!, `${at}[${n}]`));
  }
  if (schema.type !== 'object') return [];
  const { required = [], properties = {}, additionalProperties: more } = schema;
  return [
    ...required.filter((name) => !(name in (value as object))).map((name) => `${at}.${name} lacks`),
    ...Object.entries(value as object).flatMap(([name, item]) => {
      const known = properties[name] ?? (typeof more === 'object' ? more : undefined);
      if (known) return faults(item, known, `${at}.${name}`);
      return more === true ? [] : [`${at}.${name} is not in the document`];
    }),
  ];
};

type Run = () => Promise<Response>;
const read = { headers: { authorization: `Bearer ${READ}` } };
const withRows = async () => {
  const service = runService({
    ...{ readToken: READ, page, tag: '<script></script>' },
    clientAddress: () => '192.0.2.1',
  });
  await service.post('/v1/event', { ...event, user_id: 'u' }, { 'idempotency-key': 'k' });
  await service.post('/v1/identify', { ...identify, properties: { a: 1 } });
  await service.post('/v1/event', { ...event, tags: 1 });
  await vi.waitFor(async () => expect(await service.store.countRefused()).toBe(1));
  const lock = (await service.store.progress.take('house/db', 'me'))!;
  await service.store.progress.keep(lock, { message: 'away' });
  return service;
};
const failing = () => {
  const reject = () => Promise.reject(new Error('away'));
  const { store } = runService();
  const away = [
    'write',
    'check',
    'rows',
    'refused',
    'resend',
    'profiles',
    'counts',
    'hours',
    'countRefused',
    'outages',
    'countLater',
    'erase',
    'countErased',
  ];
  const progress = { ...store.progress, targets: reject };
  Object.assign(store, { progress }, Object.fromEntries(away.map((name) => [name, reject])));
  return runService({ store: { ...store, close: async () => {} }, readToken: READ });
};
const picky = () => {
  const path = join(tempFolder(), 'service.db');
  const service = runService({ store: createLibsqlStore({ path }) });
  refuseRows(path, 'no');
  return service;
};

const writing = (path: string, body: object): Record<string, Run> => ({
  200: () => runService().post(path, body, { 'x-called-at': '2026-01-01T00:00:00Z' }),
  400: () => runService().post(path, {}),
  401: () => runService().post(path, body, { authorization: null }),
  413: () => runService().post(path, ' '.repeat(1_048_577)),
  415: () => runService().post(path, body, { 'content-encoding': 'br' }),
  429: () =>
    runService({ rateLimit: () => 1_000, clientAddress: () => '192.0.2.1' }).post(path, body),
  503: () => failing().post(path, body),
});
const single = (path: string, body: object): Record<string, Run> => ({
  ...writing(path, body),
  403: () => runService({ writeTokens: [{ token: TOKEN, projects: ['q'] }] }).post(path, body),
  422: () => picky().post(path, body),
});
const batch = {
  sent_at: '2026-01-01T00:00:00Z',
  records: [{ id: 'a', type: 'event', body: event }],
};
/** Statuses that all reading has. */
const common = (method: string, path: string, body?: string): Record<string, Run> => ({
  401: () => runService({ readToken: READ, page }).send(path, { method, body: body ?? null }),
  403: () =>
    runService({ page }).send(`http://evil.example${path}`, { method, body: body ?? null }),
  503: () => failing().send(path, { ...read, method, body: body ?? null }),
});
const reading = (path: string, more: Record<string, Run> = {}, wrong?: string) => ({
  ...common('GET', path),
  200: async () => (await withRows()).send(path, read),
  ...(wrong && { 400: async () => (await withRows()).send(wrong, read) }),
  ...more,
});
const seqs = JSON.stringify({ seqs: [1] });

/** How to get each answer that the document names. */
const CALLS: Readonly<Record<string, Record<string, Run>>> = {
  'post /v1/identify': single('/v1/identify', identify),
  'post /v1/event': single('/v1/event', event),
  'post /v1/batch': writing('/v1/batch', batch),
  'get /rows': reading('/rows', {}, '/rows?limit=x'),
  'delete /rows': {
    ...common('DELETE', '/rows?project=p&upto=99'),
    200: async () =>
      (await withRows()).send('/rows?project=p&upto=99', { ...read, method: 'DELETE' }),
    400: () => runService().send('/rows', { method: 'DELETE' }),
  },
  'get /rows/{file}': reading('/rows/rows.js', {
    403: () =>
      runService({ page }).send('/rows/rows.js', { headers: { 'sec-fetch-site': 'cross-site' } }),
    404: () => runService({ readToken: READ }).send('/rows/rows.js', read),
  }),
  'get /refused': reading('/refused', {}, '/refused?after=x'),
  'post /refused/resend': {
    ...common('POST', '/refused/resend', seqs),
    200: async () => {
      const service = picky();
      await service.post('/v1/event', event);
      return service.send('/refused/resend', { method: 'POST', body: seqs });
    },
    400: () => runService().send('/refused/resend', { method: 'POST', body: '{}' }),
  },
  'get /profiles': reading('/profiles?limit=1', {}, '/profiles?after=x'),
  'get /counts': reading('/counts', {}, '/counts?by=day'),
  'get /exports': reading('/exports'),
  'get /users': reading('/users?project=p&user=u', {}, '/users?user=u'),
  'delete /users': {
    ...common('DELETE', '/users?project=p&user=u'),
    200: async () =>
      (await withRows()).send('/users?project=p&user=u', { ...read, method: 'DELETE' }),
    400: () => runService().send('/users', { method: 'DELETE' }),
  },
  'get /setup': reading('/setup'),
  'get /health': reading('/health'),
  'get /outages': reading('/outages', {}, '/outages?from=x'),
  'get /outages/later': reading(
    '/outages/later?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
    {},
    '/outages/later',
  ),
  'get /openapi.json': { 200: () => runService().send('/openapi.json') },
  'get /live': { 200: () => runService().send('/live') },
  'get /ready': { 200: () => runService().send('/ready'), 503: () => failing().send('/ready') },
};

const named = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) =>
    Object.entries(operation.responses).map(
      ([status, answer]) => [`${method} ${path}`, status, answer] as const,
    ),
  ),
);

describe('the OpenAPI document', () => {
  it('is what the service answers', async () => {
    const response = await runService({ readToken: READ }).send('/openapi.json');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(OPENAPI)));
  });

  it('names every route of the source, and no other', () => {
    const source = ['create-service.ts', 'reading/routes.ts']
      .map((name) => readFileSync(new URL(`../../src/server/${name}`, import.meta.url), 'utf8'))
      .join('\n');
    const routes = [...source.matchAll(/\bapp\.(get|post|put|delete)\('([^']+)'/g)].map(
      ([, method, path]) => `${method} ${path!.replace(/:(\w+)/g, '{$1}')}`,
    );
    const inDocument = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(inDocument.sort()).toEqual(routes.sort());
  });

  it.each(['/v1/identify', '/v1/event'])('names every answer to %s', (path) => {
    const answers = Object.keys(paths[path]!['post']!.responses);
    expect(answers).toEqual(Object.keys(CALLS[`post ${path}`]!));
  });

  it.each(named)('is right about %s with %s', async (operation, status, { content, headers }) => {
    const response = await CALLS[operation]![status]!();
    expect(String(response.status)).toBe(status);
    for (const name of Object.keys(headers ?? {})) expect(response.headers.get(name)).toBeTruthy();
    const type = response.headers.get('content-type')!.split(';')[0]!;
    expect(Object.keys(content)).toContain(type);
    if (type !== 'application/json') return void (await response.body?.cancel());
    expect(faults(await response.json(), content[type]!.schema)).toEqual([]);
  });

  it.each(['Identify', 'Event'] as const)('has a type for each field of %s', (name) => {
    const fields = FIELDS[name === 'Event' ? 'event' : 'identify'];
    const { properties = {}, required } = schemas[name]!;
    expect(Object.keys(properties).sort()).toEqual(Object.keys(fields).sort());
    expect(Object.values(properties).filter(({ type }) => !type)).toEqual([]);
    const needed = Object.keys(fields).filter((field) => !fields[field]!.mayLack);
    expect(required).toEqual(needed);
  });

  it('is right about how much is taken: that, and no more', async () => {
    const { Batch, Record: record } = schemas;
    const [most, longest] = [
      Batch!.properties!['records']!.maxItems!,
      record!.properties!['id']!.maxLength!,
    ];
    const statusOf = async (path: string, body: object) =>
      (await runService().post(path, body)).status;
    const batchOf = (count: number, id: number) => ({
      ...batch,
      records: Array.from({ length: count }, () => ({ ...batch.records[0], id: 'i'.repeat(id) })),
    });
    expect(await statusOf('/v1/batch', batchOf(most, longest))).toBe(200);
    expect(await statusOf('/v1/batch', batchOf(most + 1, 1))).toBe(413);
    expect(await statusOf('/v1/batch', batchOf(1, longest + 1))).toBe(400);
  });

  it.each(['json', 'ndjson', 'csv', 'sse'])('is right about the type of %s', async (format) => {
    const response = await (await withRows()).send(`/rows?format=${format}`, read);
    const type = response.headers.get('content-type')!.split(';')[0]!;
    const content = paths['/rows']!['get']!.responses['200']!.content;
    expect(Object.keys(content)).toContain(type);
    await response.body?.cancel();
  });

  it('is right about the counts by hour', async () => {
    const service = await withRows();
    const { schema } = paths['/counts']!['get']!.responses['200']!.content['application/json']!;
    const response = await service.send(
      '/counts?by=hour&project=p&channel=c&event=e&split=event',
      read,
    );
    const answer = (await response.json()) as { hours: unknown[] };
    expect(answer.hours).toHaveLength(1);
    expect(faults(answer, schema)).toEqual([]);
    expect((await failing().send('/counts?by=hour', read)).status).toBe(503);
  });

  it('is right about the refused by hour, and about outages', async () => {
    const service = await withRows();
    const of = (path: string) =>
      paths[path]!['get']!.responses['200']!.content['application/json']!.schema;
    await vi.waitFor(async () => {
      const answer = await (await service.send('/counts?by=refused', read)).json();
      expect((answer as { refused: unknown[] }).refused).toHaveLength(1);
      expect(faults(answer, of('/counts'))).toEqual([]);
    });
    const at = new Date().toISOString();
    await service.store.addOutage({
      from: '2026-01-01T00:00:00.000Z',
      to: at,
      process: 'web-1',
      problem: 'away',
    });
    const answer = await (await service.send('/outages', read)).json();
    expect((answer as { outages: unknown[] }).outages).toHaveLength(1);
    expect(faults(answer, of('/outages'))).toEqual([]);
  });

  it('is right about rows that are counted before they are deleted', async () => {
    const { schema } = paths['/rows']!['delete']!.responses['200']!.content['application/json']!;
    const service = await withRows();
    const response = await service.send('/rows?project=p&dry=1', { ...read, method: 'DELETE' });
    const answer: unknown = await response.json();
    expect(answer).toEqual({ rows: expect.any(Number), upto: expect.any(Number) });
    expect(faults(answer, schema)).toEqual([]);
  });

  it('names every parameter of a deletion of rows, and no other', () => {
    const { parameters } = paths['/rows']!['delete']!;
    const known = /OF_DELETION = \[([^\]]*)\]/.exec(
      readFileSync(new URL('../../src/server/reading/query.ts', import.meta.url), 'utf8'),
    )![1]!;
    expect(parameters!.map(({ name }) => `'${name}'`).join(', ')).toBe(known);
  });

  it('names every parameter of the counts, and no other', () => {
    const source = readFileSync(
      new URL('../../src/server/reading/query.ts', import.meta.url),
      'utf8',
    );
    const ofHours = source.slice(source.indexOf('readHourFilter'));
    const names = [...ofHours.matchAll(/(?:msOf|get|getAll)\('(\w+)'/g)].map(([, name]) => name);
    const filter = source.slice(
      source.indexOf('readFilter'),
      source.indexOf('const checkDeletion'),
    );
    const parts = [...filter.matchAll(/(?:one|many|get)\('(\w+)'\)/g)].map(([, name]) => name);
    const parameters = paths['/counts']!['get']!.parameters!.map(({ name }) => name);
    expect(parameters.sort()).toEqual([...new Set(['by', ...names, ...parts])].sort());
  });

  it('names every parameter of a list of users, and no other', () => {
    const source = readFileSync(
      new URL('../../src/server/reading/looking-query.ts', import.meta.url),
      'utf8',
    );
    const ofUsers = source.slice(source.indexOf('readUsers'));
    const names = [...ofUsers.matchAll(/(?:get|getAll)\('(\w+)'/g)].map(([, name]) => name);
    const parameters = paths['/users']!['get']!.parameters!.map(({ name }) => name);
    const others = ['user', 'format', 'before', 'newest', 'start', 'tag', 'limit', 'after'];
    expect(parameters.sort()).toEqual([...new Set([...names, ...others])].sort());
  });

  it('names every parameter that is read, and no other', () => {
    const source = ['query.ts', 'routes.ts', 'format-of.ts']
      .map((name) => new URL(`../../src/server/reading/${name}`, import.meta.url))
      .map((url) => readFileSync(url, 'utf8'))
      .join('\n');
    const parameters = Object.values(paths['/rows']!['get']!.parameters!)
      .filter((parameter) => parameter.in === 'query')
      .map(({ name }) => name);
    for (const name of parameters) expect(source).toContain(`'${name}'`);
    expect(parameters.sort()).toEqual(
      [
        ...[
          'after',
          'before',
          'bom',
          'brief',
          'channel',
          'event',
          'format',
          'limit',
          'mine',
          'newest',
          'not',
        ],
        ...['from', 'project', 'tag', 'text', 'to', 'type', 'user'],
      ].sort(),
    );
  });
});
