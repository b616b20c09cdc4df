import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNodeFetch } from '../../../src/relay-node.js';
import type { RelayError, RelayOptions, Seen, Sighting } from '../../../src/relay.js';
import { createSeenMemory } from '../../../src/relay/delivery/seen-memory.js';
import type { BatchAnswer } from '../../../src/interface/wire.js';
import { event } from '../helpers/records.js';
import { runRelay } from '../helpers/run-relay.js';

const never = (): Promise<never> => new Promise(() => {});

const outcomesOf = async (response: Response) =>
  ((await response.json()) as BatchAnswer).results.map(({ id, outcome }) => [id, outcome]);

/** A relay over HTTP, and what its operator heard. */
const run = async (options: Partial<RelayOptions>) => {
  const errors: RelayError[] = [];
  const relay = await runRelay({ onError: (error) => void errors.push(error), ...options });
  return { ...relay, errors };
};

describe('a store of ids that hangs', () => {
  it('has records answered `retry`, untried, and gives up what it claims too late', async () => {
    const memory = createSeenMemory();
    let goOn = () => {};
    const hung = new Promise<void>((resolve) => (goOn = resolve));
    const begin: Seen['begin'] = async (...args) => {
      await hung;
      return memory.begin(...args);
    };
    const { batch, stored, errors } = await run({ seen: { ...memory, begin }, deadline: 50 });
    const response = await batch([event('a'), event('b')]);
    expect(await outcomesOf(response)).toEqual([
      ['a', 'retry'],
      ['b', 'retry'],
    ]);
    expect(await stored()).toBe(0);
    expect(errors).toEqual([{ kind: 'seen', message: 'no answer in time' }]);
    goOn();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await outcomesOf(await batch([event('a'), event('b')]))).toEqual([
      ['a', 'delivered'],
      ['b', 'delivered'],
    ]);
    expect(await stored()).toBe(2);
  });

  it('does not keep back the answer of what was delivered, nor its place', async () => {
    const seen = { ...createSeenMemory(), finish: never };
    const { batch, stored, errors } = await run({ seen, deadline: 400, concurrency: 1 });
    const [first, second] = await Promise.all([batch([event('a')]), batch([event('b')])]);
    expect(await outcomesOf(first)).toEqual([['a', 'delivered']]);
    expect(await outcomesOf(second)).toEqual([['b', 'retry']]); // its deadline was over
    expect(await outcomesOf(await batch([event('c')]))).toEqual([['c', 'delivered']]);
    expect(await stored()).toBe(2);
    expect(errors.map(({ kind }) => kind)).toEqual(['seen', 'seen']);
  });

  it('does not keep back the answer of what was not taken', async () => {
    const seen = { ...createSeenMemory(), forget: never };
    const { batch, errors } = await run({ seen, deadline: 50, baseUrl: 'http://127.0.0.1:1' });
    expect(await outcomesOf(await batch([event('a')]))).toEqual([['a', 'retry']]);
    expect(errors.map(({ kind }) => kind)).toContain('seen');
  });
});

describe('a store of ids that answers nonsense', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['too little', []],
    ['no sighting', [{}]],
    ['another state', [{ state: 'other' }]],
    ['no result', [{ state: 'done' }]],
    ['a result without an outcome', [{ state: 'done', result: {} }]],
    ['text', 'done'],
  ])('has records answered `retry`: %s', async (_, answer) => {
    const begin = () => Promise.resolve(answer as Sighting[]);
    const { batch, stored, errors } = await run({ seen: { ...createSeenMemory(), begin } });
    for (const id of ['a', 'b']) {
      expect(await outcomesOf(await batch([event(id)]))).toEqual([[id, 'retry']]);
    }
    expect(await stored()).toBe(0);
    expect(errors.map(({ kind }) => kind)).toContain('seen');
  });
});

describe('a queue that hangs', () => {
  it('is answered 503, and the records may come again', async () => {
    const puts: string[][] = [];
    const put = (records: readonly { id: string }[]): Promise<void> => {
      puts.push(records.map(({ id }) => id));
      return puts.length === 1 ? never() : Promise.resolve();
    };
    const { batch, errors } = await run({ queue: { put }, deadline: 50 });
    const response = await batch([event('a')]);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(errors).toEqual([{ kind: 'queue', message: 'no answer in time' }]);
    expect(await outcomesOf(await batch([event('a')]))).toEqual([['a', 'accepted']]);
    expect(puts).toEqual([['a'], ['a']]);
  });
});

describe('a function of the operator', () => {
  it.each(['authorize', 'rateLimit'] as const)('that hangs lets nobody in: %s', async (name) => {
    const { batch, stored, errors } = await run({ [name]: never, timeout: 50 });
    const response = await batch([event('a')]);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await stored()).toBe(0);
    expect(errors).toEqual([{ kind: 'hook', message: `\`${name}\`: no answer in time` }]);
  });

  it('that hangs has records answered `retry`: token', async () => {
    const { batch, stored, errors } = await run({ token: never, timeout: 50 });
    expect(await outcomesOf(await batch([event('a')]))).toEqual([['a', 'retry']]);
    expect(await stored()).toBe(0);
    expect(errors.map(({ kind }) => kind)).toContain('token');
  });

  it('that is async may reject, and nothing is left unhandled', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    // As one may hand over where types are not looked at.
    const reject = (async () => {
      throw new Error('no');
    }) as () => void;
    const { batch } = await runRelay({ onError: reject, onMetric: reject });
    expect(await outcomesOf(await batch([event('a')]))).toEqual([['a', 'delivered']]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });
});

/** A service over HTTP that answers each request in its own way. */
const runOdd = async (answer: (response: ServerResponse) => void) => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    request.resume().on('end', () => answer(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests: () => requests };
};

describe.each([
  ['the global fetch', {}],
  ['createNodeFetch()', { fetch: createNodeFetch() }],
])('an answer of the service, read by %s', (_, options) => {
  it('is read to 64 KiB', async () => {
    let written = 0;
    let close = () => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    const { url, requests } = await runOdd((response) => {
      const piece = Buffer.alloc(65_536, ' ');
      const pump = (): void => {
        do written += piece.length;
        while (response.write(piece) && written < 512 * 1024 * 1024);
      };
      response
        .on('drain', pump)
        .on('close', close)
        .on('error', () => {});
      pump();
    });
    const { batch } = await run({ ...options, baseUrl: url });
    expect(await outcomesOf(await batch([event('a')]))).toEqual([['a', 'delivered']]);
    await closed;
    expect(written).toBeLessThan(16 * 1024 * 1024); // what the sockets of both sides take
    expect(requests()).toBe(1);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['never ends', () => {}],
    ['is cut off', (response) => setImmediate(() => response.destroy())],
  ])('is its status where its body %s', async (_, end) => {
    const { url, requests } = await runOdd((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{');
      end(response);
    });
    const { batch } = await run({ ...options, baseUrl: url, timeout: 200 });
    const delivered = [['a', 'delivered']];
    expect(await outcomesOf(await batch([event('a')]))).toEqual(delivered);
    expect(await outcomesOf(await batch([event('a')]))).toEqual(delivered);
    expect(requests()).toBe(1);
  });
});

describe('a `fetch` of the operator', () => {
  it('that never settles, and knows no signal, holds a record for its timeout', async () => {
    const { batch } = await run({ fetch: never, timeout: 50 });
    expect(await outcomesOf(await batch([event('a')]))).toEqual([['a', 'retry']]);
  });

  it('may answer with a status alone', async () => {
    let requests = 0;
    const fetch = (async () => {
      requests++;
      return { status: 200 };
    }) as unknown as NonNullable<RelayOptions['fetch']>;
    const { batch } = await run({ fetch });
    const delivered = [['a', 'delivered']];
    expect(await outcomesOf(await batch([event('a')]))).toEqual(delivered);
    expect(await outcomesOf(await batch([event('a')]))).toEqual(delivered);
    expect(requests).toBe(1);
  });
});
