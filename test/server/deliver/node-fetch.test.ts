import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createNodeFetch } from '../../../src/relay-node.js';
import { createDelivery } from '../../../src/server/deliver/delivery.js';
import { createTell } from '../../../src/server/hooks.js';
import { checked, event } from '../support/records.js';
import { listen } from '../support/relay.js';

/** Moves on the clock of undici's own time limits, as its tests do. */
const passUndici = (ms: number): void => {
  const timers = createRequire(import.meta.url)('undici/lib/util/timers.js') as {
    tick: (ms: number) => void;
  };
  timers.tick(0); // begins to count for the limits that are new
  timers.tick(ms);
};

interface Got {
  line: string;
  headers: IncomingMessage['headers'];
  text: string;
  /** Tells connections apart. */
  port: number | undefined;
}

/** A service whose answers are given by `answer`, once the whole request has come. */
const startService = async (answer: (response: ServerResponse, nth: number) => void) => {
  const got: Got[] = [];
  const port = await listen(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { method, url, headers, socket } = request;
    got.push({ line: `${method} ${url}`, headers, text, port: socket.remotePort });
    answer(response, got.length);
  });
  return { got, url: `http://127.0.0.1:${port}` };
};

const post = (url: string, { signal = new AbortController().signal } = {}) =>
  createNodeFetch()(url, {
    ...{ method: 'POST', headers: { authorization: 'Bearer t' }, redirect: 'manual' },
    ...{ body: '{"icon":"🎉"}', signal },
  });

it('posts what it is given, with its length in bytes, and reads the answer', async () => {
  const { got, url } = await startService((response) =>
    response
      .writeHead(429, { 'retry-after': '7' })
      .end('{"code":429,"message":"zu schnell für uns"}'),
  );
  const { status, headers, text } = await post(`${url}/base/v1/event`);
  expect([status, headers.get('Retry-After'), headers.get('x-none')]).toEqual([429, '7', null]);
  expect(await text()).toBe('{"code":429,"message":"zu schnell für uns"}');
  expect(got[0]).toMatchObject({ line: 'POST /base/v1/event', text: '{"icon":"🎉"}' });
  expect(got[0]!.headers).toMatchObject({ authorization: 'Bearer t', 'content-length': '15' });
});

describe('where the package undici is missing', () => {
  beforeEach(() => {
    vi.resetModules();
    vi.doMock('undici', () => {
      throw new Error('Cannot find package');
    });
  });
  afterEach(() => {
    vi.doUnmock('undici');
    vi.unstubAllEnvs();
  });
  const postWithout = async (url: string) => {
    const { createNodeFetch } = await import('../../../src/relay-node.js');
    return createNodeFetch()(url, {
      ...{ method: 'POST', headers: {}, redirect: 'manual', body: '{}' },
      signal: new AbortController().signal,
    });
  };

  it("posts by Node's own fetch", async () => {
    const { got, url } = await startService((response) => response.end('{}'));
    expect((await postWithout(`${url}/v1/event`)).status).toBe(200);
    expect(got[0]).toMatchObject({ line: 'POST /v1/event', text: '{}' });
  });

  it('says so where a proxy is set, which that knows nothing of', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1');
    await expect(postWithout('https://in.example/v1/event')).rejects.toThrow(
      'the package undici is missing: npm install undici',
    );
  });
});

it('follows no redirect', async () => {
  const { got, url } = await startService((response) =>
    response.writeHead(302, { location: '/elsewhere' }).end(),
  );
  expect((await post(url)).status).toBe(302);
  expect(got).toHaveLength(1);
});

it('takes a word before the answer, such as 102, for no answer', async () => {
  const { url } = await startService((response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('{}'));
  });
  const { status, text } = await post(url);
  expect([status, await text()]).toEqual([200, '{}']);
});

it('rejects where there is no answer, and its text where that is cut off', async () => {
  const { url } = await startService((response, nth) => {
    if (nth === 1) response.destroy();
    else {
      response.writeHead(200, { 'content-length': '100' }).write('{');
      setImmediate(() => response.destroy());
    }
  });
  await expect(post(url)).rejects.toThrow();
  const { status, text } = await post(url);
  expect(status).toBe(200);
  await expect(text()).rejects.toThrow();
  await expect(post('http://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED');
});

it('rejects when it is called off, before the answer or in its middle', async () => {
  const abort = [new AbortController(), new AbortController()] as const;
  const { url } = await startService((response, nth) => {
    if (nth === 2) response.writeHead(200).write('{');
    else setImmediate(() => abort[0].abort());
  });
  await expect(post(url, { signal: abort[0].signal })).rejects.toThrow('aborted');
  const { text } = await post(url, { signal: abort[1].signal });
  abort[1].abort();
  await expect(text()).rejects.toThrow('aborted');
});

it('waits for an answer, and for its end, for as long as it is not called off', async () => {
  const waiting: ServerResponse[] = [];
  const { url } = await startService((response) => waiting.push(response));
  const answer = post(url);
  await vi.waitUntil(() => waiting.length);
  passUndici(3_600_000);
  waiting[0]!.writeHead(200).write('{');
  const { text } = await answer;
  passUndici(3_600_000);
  waiting[0]!.end('}');
  expect(await text()).toBe('{}');
});

it('goes through the proxy that the environment names, but for hosts that need none', async () => {
  const { got, url } = await startService((response) => response.end('{"success":true}'));
  const asked: string[] = [];
  const proxy = createServer()
    .on('connect', (request, socket) => {
      asked.push(request.url!);
      const { hostname, port } = new URL(`http://${request.url}`);
      const onward = connect(Number(port), hostname, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
    })
    .listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    vi.unstubAllEnvs();
    proxy.close();
  });
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  expect((await post(url)).status).toBe(200);
  vi.stubEnv('NO_PROXY', '127.0.0.1');
  expect((await post(url)).status).toBe(200);
  expect(asked).toEqual([url.replace('http://', '')]);
  expect(got).toHaveLength(2);
});

it('delivers the records of a relay, one after another over the same connections', async () => {
  const { got, url } = await startService((response) => response.end('{"success":true}'));
  const options = { baseUrl: url, token: 'secret', fetch: createNodeFetch(), concurrency: 1 };
  const { deliver } = createDelivery(options, createTell({}));
  const ids = Array.from({ length: 10 }, (_, n) => `e${n}`);
  const records = ids.map((id) => checked(event(id)));
  const results = await Promise.all(deliver(records, { until: Date.now() + 60_000 }));
  expect(results.map(({ outcome }) => outcome)).toEqual(ids.map(() => 'delivered'));
  expect(got.map(({ headers }) => headers['idempotency-key'])).toEqual(ids);
  expect(new Set(got.map(({ port }) => port)).size).toBeLessThanOrEqual(2);
});
