import { onTestFinished } from 'vitest';
import { createService, type ServerError, type ServiceOptions } from '../../../src/service.js';
import { createLibsqlStore } from '../../../src/service-libsql.js';
import type { Profile, Refused, Row } from '../../../src/service.js';
import { patient } from './patient.js';

export const TOKEN = 'test-token';
const ORIGIN = 'http://localhost:8787';

export const event = { project: 'p', channel: 'c', event: 'e' };
export const identify = { project: 'p', user_id: 'u', properties: {} };

/** A body that comes in these pieces, without a length. */
export const streamOf = (pieces: readonly string[]) =>
  new ReadableStream<string>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  }).pipeThrough(new TextEncoderStream());

type Headers = Readonly<Record<string, string | null>>;

/** A post of JSON with the token: text, bytes and streams go as they are, and a header set to `null` is left out. */
export const postOf = (body: unknown, headers: Headers = {}): RequestInit => {
  const all = {
    ...{ authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...headers,
  };
  const isRaw = body instanceof Uint8Array || body instanceof ReadableStream;
  const init = {
    method: 'POST',
    headers: Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null),
    // Bytes, for a string would get a content type of its own.
    body: isRaw
      ? body
      : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
    duplex: 'half',
  };
  return init as RequestInit;
};

/** A service over a database of its own, called without a server, until the test ends. */
export const runService = (options: Partial<ServiceOptions> = {}) => {
  const store = options.store ?? patient(createLibsqlStore({ path: ':memory:' }));
  const errors: ServerError[] = [];
  const metrics: [name: string, value: number, labels: string][] = [];
  const service = createService({
    writeTokens: [{ token: TOKEN, projects: '*' }],
    rateLimit: false,
    ceiling: false,
    onError: (error) => errors.push(error),
    onMetric: (name, value, labels) =>
      metrics.push([name, value, Object.values(labels ?? {}).join(' ')]),
    ...options,
    store,
  });
  onTestFinished(() => service.close());

  const send = (target: string, init?: RequestInit): Promise<Response> =>
    service(new Request(new URL(target, ORIGIN), init));
  const post = (target: string, body: unknown, headers: Headers = {}) =>
    send(target, postOf(body, headers));
  const json = async <Value>(target: string, init?: RequestInit): Promise<Value> =>
    (await (await send(target, init)).json()) as Value;

  return {
    ...{ service, store, errors, metrics, send, post, json },
    rows: async (query = ''): Promise<Row[]> =>
      (await json<{ rows: Row[] }>(`/rows?${query}`)).rows,
    refused: async (): Promise<Refused[]> =>
      (await json<{ refused: Refused[] }>('/refused')).refused,
    profiles: async (query = ''): Promise<Profile[]> =>
      (await json<{ profiles: Profile[] }>(`/profiles?${query}`)).profiles,
  };
};
