import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key',
  'access-control-max-age': '7200',
};

/**
 * A service on an origin of its own that answers in a way no working one does. It keeps the names of the
 * events it got.
 */
export const startOddService = async (answer: (response: ServerResponse) => void) => {
  const events: string[] = [];
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      events.push((JSON.parse(body) as { event: string }).event);
      responses.push(response);
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Every event that came, in order. */
    events,
    /** The answer to each of them. */
    responses,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
