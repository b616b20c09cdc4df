import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { databaseId } from './database-id.js';
import { FILES, readDemoFile } from './demo-files.js';
import { fillIn } from './fill-in.js';
import { pageHeaders } from './page-headers.js';
import { serviceAddress } from './service-address.js';

interface Parts {
  servicePort: number;
  token: string;
  database: string;
}

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
      const { token, database } = parts;
      const stub = await readDemoFile(FILES['/stub.js']!);
      body = fillIn(body, { nonce, service, token, database: databaseId(database), stub });
    }
    response.writeHead(200, { 'content-type': file.type, ...pageHeaders({ nonce, service }) });
    response.end(request.method === 'HEAD' ? undefined : body);
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      response.writeHead(500, { 'content-type': 'text/plain' }).end('Internal server error\n');
    });
  };
};
