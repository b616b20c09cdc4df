// The least a service can do: answer 200 with CORS, and count. Runs as a process of its own.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';

const ANSWER = '{"success":true,"message":"ok"}';
let status = 200;
let count = 0;

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
    const answer = String(count);
    if (searchParams.has('reset')) count = 0;
    return response.end(answer);
  }
  if (pathname === '/analytics.js') {
    response.setHeader('content-type', 'text/javascript');
    return response.end(await readFile(new URL('../dist/analytics.js', import.meta.url)));
  }
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>bench</title><link rel="icon" href="data:,">');
});

service.listen(0, '127.0.0.1', () =>
  site.listen(0, '127.0.0.1', () =>
    process.send({ service: service.address().port, site: site.address().port }),
  ),
);
