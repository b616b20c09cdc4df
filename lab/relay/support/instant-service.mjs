/** A service that says yes at once and stores nothing. Prints its address; ends on SIGTERM. */
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"success":true,"message":"ok"}');
  });
}).listen(0, '127.0.0.1', () => console.log(`Service http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
