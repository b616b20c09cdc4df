import { describe, expect, it, vi } from 'vitest';
import type { Refused, ServiceOptions } from '../../src/service.js';
import { MAX_BODY_BYTES } from '../../src/server/http/body.js';
import { event, identify, runService, streamOf, TOKEN } from './support/run-service.js';

type Expected = Partial<Omit<Refused, 'message'>> & { message: RegExp };

interface Case {
  path?: string;
  body?: unknown;
  headers?: Record<string, string | null>;
  options?: Partial<ServiceOptions>;
  /** What the client is answered, beside the status. @default the words of the status */
  answer?: RegExp;
  refused: Expected;
}
const WORDS: Readonly<Record<number, string>> = {
  ...{ 400: 'Invalid request data', 401: 'Missing or wrong API token', 413: 'Too large' },
  ...{ 415: 'Wrong content type', 429: 'Too many records' },
};

const deep = `{"project":"p","channel":"c","event":"e","tags":{"a":${'['.repeat(300)}${']'.repeat(300)}}}`;

const TEXT = JSON.stringify(event);
const withEach = <Value>(
  what: string,
  values: readonly Value[],
  caseOf: (value: Value) => Case,
): Record<string, Case> =>
  Object.fromEntries(values.map((value) => [`${what} ${value}`, caseOf(value)]));

const CASES: Readonly<Record<string, Case>> = {
  'no token, and no JSON either': {
    body: '{',
    headers: { authorization: null },
    refused: { status: 401, reason: 'token', message: /no token.*Authorization: Bearer/ },
  },
  ...withEach(
    'the token',
    [
      ...['Bearer', 'Bearer wrong', 'Bearer test-token x', 'Bearer TEST-TOKEN'],
      ...['Basic test-token', 'test-token'],
    ],
    (authorization) => ({
      headers: { authorization },
      refused: { status: 401, reason: 'token', message: /none of the write tokens/ },
    }),
  ),
  'a token of another project': {
    options: { writeTokens: [{ token: TOKEN, projects: ['q'] }] },
    answer: /may not write to the project "p"/,
    refused: {
      status: 403,
      reason: 'project',
      project: 'p',
      message: /Use a token of this project/,
    },
  },
  'a project that is not listed': {
    options: { projects: ['q'] },
    answer: /does not list the project "p"/,
    refused: { status: 403, reason: 'project', project: 'p', message: /Add it to the projects/ },
  },
  'a channel that is not listed': {
    options: { channels: ['web'] },
    answer: /does not list the channel "c"/,
    refused: { status: 403, reason: 'project', message: /Add it to the channels/ },
  },
  'a field of a wrong type': {
    body: { ...event, tags: 'a' },
    refused: { status: 400, reason: 'field', project: 'p', message: /^`tags` must be an object$/ },
  },
  'a missing field': {
    path: '/v1/identify',
    body: { project: 'p', user_id: 'u' },
    refused: {
      ...{ status: 400, reason: 'field', type: 'identify', user_id: 'u' },
      message: /^`properties` is missing: an object$/,
    },
  },
  'a time that is none': {
    body: { ...event, timestamp: '2026-02-30T00:00:00Z' },
    refused: {
      status: 400,
      reason: 'field',
      message: /`timestamp` must be a date-time of RFC 3339/,
    },
  },
  'a time of the call that is none': {
    path: '/v1/identify',
    body: identify,
    headers: { 'x-called-at': 'yesterday' },
    refused: { status: 400, reason: 'field', message: /`X-Called-At` must be a date-time/ },
  },
  'a user id that fills the key of a database': {
    body: { ...event, user_id: 'ü'.repeat(513) },
    refused: { status: 400, reason: 'field', message: /`user_id` may have 1024 bytes/ },
  },
  'a key of an endless length': {
    headers: { 'idempotency-key': 'k'.repeat(256) },
    refused: { status: 400, reason: 'field', message: /`Idempotency-Key` must have 1 to 255/ },
  },
  'a body that is too deep for parsers and databases': {
    body: deep,
    refused: { status: 400, reason: 'field', message: /200 levels/ },
  },
  ...withEach('the number', ['1e400', '-1e400', '9'.repeat(309)], (number) => ({
    path: '/v1/identify',
    body: `{"project":"p","user_id":"u","properties":{"a":[{"b":${number}}]}}`,
    refused: { status: 400, reason: 'field', user_id: 'u', message: /`properties` has a number/ },
  })),
  'what is no JSON': {
    body: '{"project":',
    refused: { status: 400, reason: 'body', body: '{"project":', message: /no JSON/ },
  },
  ...withEach('the JSON', ['', `${TEXT}x`, TEXT.slice(0, -1), 'project=p'], (body) => ({
    body,
    refused: { status: 400, reason: 'body', message: /no JSON|is empty/ },
  })),
  'what is no UTF-8': {
    body: Buffer.from(TEXT.replace('"p"', '"p\u00e9"'), 'latin1'),
    refused: { status: 400, reason: 'body', message: /not UTF-8/ },
  },
  ...withEach(
    'the content type',
    [
      ...[null, 'text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded'],
      ...['application/jsonx', 'application/json; charset=iso-8859-1', 'application/ld+json'],
    ],
    (type) => ({
      headers: { 'content-type': type },
      refused: { status: 415, reason: 'body', message: /must be application\/json/ },
    }),
  ),
  'an encoding that nobody knows': {
    headers: { 'content-encoding': 'br' },
    refused: { status: 415, reason: 'body', message: /gzip, or none/ },
  },
  'a body that is too large': {
    body: TEXT.padEnd(MAX_BODY_BYTES + 1),
    refused: { status: 413, reason: 'size', message: /1048576 bytes/ },
  },
  'a large body in chunks without a length': {
    body: streamOf(Array.from({ length: 17 }, () => ' '.repeat(65_536))),
    refused: { status: 413, reason: 'size', message: /1048576 bytes/ },
  },
  'a record that is too large': {
    body: { ...event, tags: { a: 'x'.repeat(131_072) } },
    refused: { status: 413, reason: 'size', project: 'p', message: /131072 characters/ },
  },
  ...withEach(
    'a user who is nobody',
    ['', ' ', 'undefined', 'None ', 'NULL', '(null)', '<nil>', 'NaN', '[object Window]'],
    (user_id) => ({
      path: '/v1/identify',
      body: { ...identify, user_id },
      refused: { status: 400, reason: 'field', message: /user_id/ },
    }),
  ),
  'more values than may be parsed': {
    body: { ...event, tags: { a: Array(40_000).fill(0) } },
    refused: { status: 413, reason: 'size', message: /too many values/ },
  },
  'more records than a client may send': {
    options: { rateLimit: () => 2_000, clientAddress: () => '192.0.2.1' },
    refused: { status: 429, reason: 'rate', message: /Too many records/ },
  },
};

describe('bad input', () => {
  it.each(Object.entries(CASES))(
    '%s gets the error body, is not stored, and is seen among the refused',
    async (_, { path = '/v1/event', body = event, headers = {}, options, answer, refused }) => {
      const service = runService(options);
      const response = await service.post(path, body, headers);
      expect(response.status).toBe(refused.status);
      const message = answer ? expect.stringMatching(answer) : WORDS[refused.status!];
      const detail = refused.status === 400 && { detail: expect.any(String) };
      expect(await response.json()).toEqual({ code: refused.status, message, ...detail });
      // A page may read it, and when to try again.
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'Retry-After',
      });
      const isKept = refused.status === 401 ? 'Bearer' : null;
      expect(response.headers.get('www-authenticate')).toBe(isKept);
      expect(response.headers.get('retry-after')).toBe(refused.status === 429 ? '2' : null);
      await vi.waitFor(async () => expect(await service.refused()).toHaveLength(1));
      const [seen] = await service.refused();
      const { message: words, ...rest } = refused;
      expect(seen).toMatchObject({ type: path.slice(4), ...rest });
      expect(seen!.message).toMatch(words);
      expect(await service.rows()).toEqual([]);
      expect(service.service.setup().problem?.message).toBe(seen!.message);
    },
  );

  it('counts a flood, and keeps a part of it', async () => {
    const service = runService();
    await Promise.all(
      Array.from({ length: 400 }, () => service.post('/v1/event', event, { authorization: null })),
    );
    const counted = service.metrics.filter(([name]) => name === 'refused');
    expect(counted).toHaveLength(400);
    const kept = counted.filter(([, , labels]) => labels === 'token true').length;
    expect(kept).toBeGreaterThanOrEqual(50);
    expect(kept).toBeLessThan(100);
    await vi.waitFor(async () => expect(await service.refused()).toHaveLength(kept));
  });

  it('charges wrong tokens to their client, and lets others in', async () => {
    const service = runService({
      rateLimit: { perSecond: 0.001, burst: 3 },
      clientAddress: (request) => request.headers.get('x-from') ?? undefined,
    });
    const from = async (address: string, authorization?: string) =>
      (
        await service.post('/v1/event', event, {
          'x-from': address,
          ...(authorization && { authorization }),
        })
      ).status;
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) statuses.push(await from('192.0.2.1', 'Bearer wrong'));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(await from('192.0.2.2')).toBe(200);
  });
});

it.each(['undefined', ' none', '<null>', '[object Object]', ''])(
  'stores an event of the user "%s" without a user',
  async (user_id) => {
    const service = runService();
    expect((await service.post('/v1/event', { ...event, user_id })).status).toBe(200);
    const [row] = await service.rows();
    expect([row!.user_id, row!.body.user_id]).toEqual([undefined, undefined]);
  },
);

it('keeps users with odd names', async () => {
  const service = runService();
  const users = ['0', 'guest', 'nullify', 'Нил', '一', '{{null}}', 'none of your business'];
  for (const user_id of users)
    expect((await service.post('/v1/identify', { ...identify, user_id })).status).toBe(200);
  expect((await service.rows()).map((row) => row.user_id).sort()).toEqual(users.sort());
});

it('takes the time of an identify from its header, but none that is ahead', async () => {
  const rowOf = async (time: string) => {
    const service = runService();
    const sent = await service.post('/v1/identify', identify, { 'x-called-at': time });
    expect(sent.status).toBe(200);
    return (await service.rows())[0]!;
  };
  expect((await rowOf('2026-01-01T01:00:00+01:00')).called_at).toBe('2026-01-01T00:00:00.000Z');
  const ahead = await rowOf('2999-01-01T00:00:00Z');
  expect(ahead.called_at).toBe(ahead.received_at);
});
