import { createDelivery } from './deliver/delivery.js';
import { createServer, type ServerHealth } from './create-server.js';
import { createTell } from './hooks.js';
import { createOpaqueWord, truncateAddress } from './http/client.js';
import { checkRelayOptions, type RelayOptions } from './relay-options.js';
import { createUpstreamSink } from './upstream-sink.js';

/** A relay: give it a request, get the answer. It never rejects. */
export interface Relay {
  (request: Request): Promise<Response>;
  /** The state of the relay and the service, for operators only. */
  health(): Promise<ServerHealth>;
}

/**
 * Makes a relay: the part on a site's own origin that holds the service's token and passes on what pages
 * send. It answers `POST …/v1/batch`, `POST …/v1/identify`, `POST …/v1/event`, `GET …/live` and `GET …/ready`, under
 * whatever path it is mounted. Web standards only.
 *
 * @throws TypeError that names each wrong option and what to write.
 * @example
 * const relay = createRelay({
 *   baseUrl: 'https://in.example.com', token: 'tok',
 *   origins: ['https://shop.example'], projects: ['shop'], channels: ['web'],
 *   clientAddress: (request) => request.headers.get('cf-connecting-ip') ?? undefined,
 * });
 * const response = await relay(request);
 */
export const createRelay = (options: RelayOptions): Relay => {
  checkRelayOptions(options);
  const { now = Date.now, clientAddress } = options;
  const tell = createTell(options);
  const delivery = createDelivery(options, tell);
  const server = createServer({
    ...{ options, sink: createUpstreamSink(delivery), tell, now },
    rules: { projects: options.projects, channels: options.channels, fillsIn: false },
    origins: options.origins,
    senderOf: createOpaqueWord(),
    addressOf: options.forwardAddress
      ? (request) => truncateAddress(clientAddress?.(request) ?? '')
      : undefined,
  });
  return Object.assign(server.answerPage, {
    health: () => server.health(delivery.health),
  });
};
