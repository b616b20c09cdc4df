import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { databaseId } from './database-id.js';
import { RELAY_PATH } from './demo-relay.js';
import { DOCUMENT_PAGE, FILES, MARKDOWN, readDemoFile } from './demo-files.js';
import { DEMO_PROJECT } from './demo-project.js';
import { fillIn } from './fill-in.js';
import { pageHeaders } from './page-headers.js';
import { serviceAddress } from './service-address.js';
import { showDocument } from './show-document.js';

interface Parts {
  servicePort: number;
  token: string;
  database: string;
  /** Answers what is sent to the relay. */
  relay: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Attributes that only one form has. */
const NEITHER = {
  onDirect: undefined,
  onRelay: undefined,
  relay: undefined,
  baseUrl: undefined,
  token: undefined,
};

/** What differs between the two forms of the page. Through the relay it has no token at all. */
const formOf = (path: string, baseUrl: string, token: string) =>
  path.startsWith('/relay')
    ? {
        ...NEITHER,
        form: 'relay',
        home: '/relay',
        onRelay: 'page',
        script: '/outbox-relay.js',
        relay: RELAY_PATH,
      }
    : {
        ...NEITHER,
        form: 'direct',
        home: '/',
        onDirect: 'page',
        script: '/outbox.js',
        baseUrl,
        token,
      };

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
    let { type } = file;
    let body = await readDemoFile(file);
    if (type === MARKDOWN) {
      ({ type } = DOCUMENT_PAGE);
      body = showDocument(await readDemoFile(DOCUMENT_PAGE), body);
    } else if (type.startsWith('text/html')) {
      const stub = await readDemoFile(FILES['/stub.js']!);
      const form = formOf(path, service, parts.token);
      const database = databaseId(parts.database);
      body = fillIn(body, { ...form, project: DEMO_PROJECT, nonce, service, database, stub });
    }
    const headers = pageHeaders({ nonce, service });
    // A tag with a hash, on a page of another origin, may load the scripts.
    if (type.startsWith('text/javascript')) headers['access-control-allow-origin'] = '*';
    response.writeHead(200, { 'content-type': type, ...headers });
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
