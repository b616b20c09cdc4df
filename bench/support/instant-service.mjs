/** A service that says yes at once and only counts; `/count` answers how many and when. Prints its address. */
import { createServer } from 'node:http';

let count = 0;
let first = 0;
let last = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.method === 'GET') {
      response.end(JSON.stringify({ count, ms: last - first }));
      count = request.url.endsWith('?reset') ? 0 : count;
      return;
    }
    last = performance.now();
    if (!count++) first = last;
    response.end('{"success":true,"message":"ok"}');
  });
}).listen(0, '127.0.0.1', () => console.log(`Service http://127.0.0.1:${server.address().port}`));
