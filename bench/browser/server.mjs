// The least a service can do: answer 200 with CORS, and count. Before it, a relay on the site's own origin.
// Runs as a process of its own.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { getRequestListener } from '@hono/node-server';
import { createRelay } from '../../dist/relay.js';

const ANSWER = '{"success":true,"message":"ok"}';
let status = 200;
let count = 0;
let batches = 0;
let relay;

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, content-type',
  'access-control-expose-headers': 'retry-after',
  'access-control-max-age': '7200',
};

const service = createServer((request, response) => {
  if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
  request.resume().on('end', () => {
    if (status === 200) count++;
    response.writeHead(status, { ...cors, 'content-type': 'application/json' }).end(ANSWER);
  });
});

const site = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://site');
  if (pathname === '/control') {
    if (searchParams.has('status')) status = Number(searchParams.get('status'));
    const answer = String(searchParams.has('batches') ? batches : count);
    if (searchParams.has('reset')) count = batches = 0;
    return response.end(answer);
  }
  if (pathname === '/a/v1/batch') {
    batches++;
    return relay(request, response);
  }
  const isScript = pathname.endsWith('.js');
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  if (pathname === '/empty.js') return response.end();
  if (pathname === '/floor.js') {
    return response.end(await readFile(new URL('./floor.js', import.meta.url)));
  }
  if (isScript)
    return response.end(await readFile(new URL(`../../dist${pathname}`, import.meta.url)));
  response.end('<!doctype html><title>bench</title><link rel="icon" href="data:,">');
});

service.listen(0, '127.0.0.1', () =>
  site.listen(0, '127.0.0.1', () => {
    const ports = { service: service.address().port, site: site.address().port };
    relay = getRequestListener(
      createRelay({
        baseUrl: `http://127.0.0.1:${ports.service}`,
        token: 't',
        origins: [`http://shop.example:${ports.site}`],
        projects: ['p'],
        channels: ['c'],
        rateLimit: false,
        ceiling: false,
      }),
    );
    process.send(ports);
  }),
);
