import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { RelayError } from '../../../src/relay.js';
import { createNodeFetch } from '../../../src/relay-node.js';
import type { BatchAnswer } from '../../../src/interface/wire.js';
import { event } from '../helpers/records.js';
import { runRelay } from '../helpers/run-relay.js';

/** A service on a port of its own that can go and come back. */
const createService = async () => {
  let server: Server | undefined;
  const start = (port = 0) =>
    new Promise<number>((resolve) => {
      server = createServer((_, response) => response.end('{"success":true}'));
      server.listen(port, '127.0.0.1', () => resolve((server!.address() as AddressInfo).port));
    });
  const stop = () =>
    new Promise<void>((resolve) => {
      server!.close(() => resolve());
      server!.closeAllConnections();
    });
  const port = await start();
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${port}`, stop, start: () => start(port) };
};

it.each([
  ["Node's fetch", undefined],
  ['createNodeFetch', createNodeFetch()],
])('tells the operator of an outage once until it is over, by %s', async (_, fetch) => {
  const service = await createService();
  const errors: RelayError[] = [];
  let time = Date.now();
  const { batch } = await runRelay({
    baseUrl: service.url,
    fetch,
    now: () => (time += 300_000), // no pause is longer
    deadline: 10_000_000,
    onError: (error) => errors.push(error),
  });
  const outcome = async (id: string) =>
    ((await (await batch([event(id)])).json()) as BatchAnswer).results[0]!.outcome;

  expect(await outcome('a')).toBe('delivered');
  await service.stop();
  for (const id of ['b', 'c', 'd', 'b', 'c', 'd']) expect(await outcome(id)).toBe('retry');
  // Refused, or a connection that was closed under the request.
  const unreachable = {
    kind: 'unreachable',
    message: expect.stringMatching(
      /^the service does not answer: .*(ECONN|hang up|closed)/,
    ) as string,
  };
  expect(errors).toEqual([unreachable]);
  await service.start();
  for (const id of ['b', 'c', 'd']) expect(await outcome(id)).toBe('delivered');
  expect(errors).toHaveLength(1);
  await service.stop();
  expect(await outcome('e')).toBe('retry');
  expect(errors).toEqual([unreachable, unreachable]);
  await service.start();
});
