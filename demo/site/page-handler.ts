import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { databaseId } from './database-id.js';
import { RELAY_PATH } from './demo-relay.js';
import { FILES, readDemoFile } from './demo-files.js';
import { fillIn } from './fill-in.js';
import { pageHeaders } from './page-headers.js';
import { serviceAddress } from './service-address.js';

interface Parts {
  servicePort: number;
  token: string;
  database: string;
  /** Answers what is sent to the relay. */
  relay: (request: IncomingMessage, response: ServerResponse) => void;
}

/** What differs between the two forms of the page. Through the relay it has no token at all. */
const formOf = (isRelay: boolean, service: string, token: string) =>
  isRelay
    ? { form: 'relay', home: '/relay', script: '/analytics-relay.js', relay: RELAY_PATH }
    : { form: 'direct', home: '/', script: '/analytics.js', baseUrl: service, token };

/** Attributes that only one form has. */
const NEITHER = { relay: undefined, baseUrl: undefined, token: undefined };

/** Serves the demo: its pages, and the built files as a website would have them. */
export const createPageHandler = (parts: Parts) => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    const path = (request.url ?? '/').replace(/\?.*/, '');
    const file = FILES[path];
    const service = serviceAddress(request.headers.host, parts.servicePort);
    if (!file || !service) {
      response.writeHead(file ? 400 : 404, { 'content-type': 'text/plain' }).end('Not found\n');
      return;
    }
    // Each answer its own nonce.
    const nonce = randomBytes(16).toString('base64');
    let body = await readDemoFile(file);
    if (file.type.startsWith('text/html')) {
      const stub = await readDemoFile(FILES['/stub.js']!);
      const isRelay = path.startsWith('/relay');
      const [onDirect, onRelay] = isRelay ? [undefined, 'page'] : ['page', undefined];
      const database = databaseId(parts.database);
      const form = formOf(isRelay, service, parts.token);
      body = fillIn(body, {
        ...NEITHER,
        ...form,
        onDirect,
        onRelay,
        nonce,
        service,
        database,
        stub,
      });
    }
    response.writeHead(200, { 'content-type': file.type, ...pageHeaders({ nonce, service }) });
    response.end(request.method === 'HEAD' ? undefined : body);
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url?.startsWith(`${RELAY_PATH}/`)) return parts.relay(request, response);
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      response.writeHead(500, { 'content-type': 'text/plain' }).end('Internal server error\n');
    });
  };
};
