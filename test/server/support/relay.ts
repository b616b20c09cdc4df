import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, vi } from 'vitest';
import { createRelay, type ServerError, type RelayOptions } from '../../../src/relay.js';
import type { BatchAnswer } from '../../../src/interface/wire.js';
import { createFakeService } from './fake-service.js';

export const ORIGIN = 'https://shop.example';
const TOKEN = 'secret';

export type Headers = Record<string, string | null>;

/**
 * A relay in front of a service that is a function, with a clock that stands still. Clients are told apart by the
 * header `x-client`. When the test ends, no answer may have held the token.
 */
export const setUpRelay = (options: Partial<RelayOptions> = {}, { hold = false } = {}) => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => void vi.restoreAllMocks());
  const service = createFakeService({ hold });
  const errors: ServerError[] = [];
  const metrics: string[] = [];
  const answers: string[] = [];
  const clock = { time: 1_000_000 };
  const relay = createRelay({
    baseUrl: 'https://in.example.com',
    token: TOKEN,
    origins: [ORIGIN, 'https://www.shop.example'],
    projects: ['p'],
    channels: ['c'],
    clientAddress: (request) => request.headers.get('x-client') ?? '192.0.2.1',
    fetch: service.fetch,
    now: () => clock.time,
    onError: (error) => errors.push(error),
    onMetric: (name, value, labels = {}) =>
      metrics.push([name, value, ...Object.values(labels)].join(' ')),
    ...options,
  });
  onTestFinished(() => expect(answers.join('\n')).not.toContain(TOKEN));

  const ask = async (request: Request): Promise<Response> => {
    const response = await relay(request);
    const { status, headers } = response;
    const text = await response.clone().text();
    answers.push([status, JSON.stringify([...headers]), text].join('\n'));
    return response;
  };
  const post = (path: string, body: unknown, headers: Headers = {}) => {
    const all = { origin: ORIGIN, 'content-type': 'application/json', ...headers };
    const isRaw =
      typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
    const init = {
      method: 'POST',
      headers: Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null),
      body: (isRaw ? body : JSON.stringify(body)) as string,
      duplex: 'half', // for a stream
    };
    return ask(new Request(`https://shop.example/a${path}`, init));
  };
  const batch = (records: readonly unknown[], headers?: Headers) =>
    post('/v1/batch', { sent_at: '2026-01-01T00:00:00.000Z', records }, headers);
  return {
    ...{ relay, service, errors, metrics, clock, ask, post, batch },
    /** The status of a batch of one client. */
    statusFrom: async (client: string, ...records: readonly unknown[]) =>
      (await batch(records, { 'x-client': client })).status,
    /** Id and outcome of each record of a batch. */
    outcomes: async (...records: readonly unknown[]) =>
      (await resultsOf(batch(records))).map(({ id, outcome }) => [id, outcome]),
  };
};

export const resultsOf = async (response: Response | Promise<Response>) =>
  ((await (await response).json()) as BatchAnswer).results;
/** Id, outcome and status of each record. */
export const fatesOf = async (response: Response | Promise<Response>) =>
  (await resultsOf(response)).map(({ id, outcome, status }) => [id, outcome, status]);
export const bodyOf = async (response: Response) => [response.status, await response.json()];
export const waitOf = ({ status, headers }: Response) => [status, headers.get('retry-after')];

/** Listens on a port of its own until the test ends. */
export const listen = async (listener: Parameters<typeof createServer>[1]): Promise<number> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};
