import { expect, it } from 'vitest';
import { parseNotifyAddress } from '../../../src/server/exports/notify-address.js';
import { createMessage } from '../../../src/server/exports/notify-message.js';
import { createPost } from '../../../src/server/exports/notify-post.js';
import { listen } from '../helpers/relay.js';

const TIME = '2026-03-01T12:00:00.000Z';
const row = { id: 'i', called_at: TIME, received_at: TIME };
const MESSAGE = createMessage([
  { ...{ project: 'p', channel: 'c', event: 'e', place: 1, count: 1 }, first: row, last: row },
]);

const postTo = (port: number) => {
  const address = parseNotifyAddress(`ntfy+http://me:pass-word@127.0.0.1:${port}/topic-1234`)!;
  return createPost({ address, secrets: [], publicUrl: undefined })(MESSAGE);
};

it('brings a message to a server, and takes its 200', async () => {
  let asked = '';
  const port = await listen(async (request, response) => {
    for await (const chunk of request) asked += String(chunk);
    asked += ` ${request.method} ${request.url} ${request.headers.authorization}`;
    response.end('{}');
  });
  expect(await postTo(port)).toEqual({
    outcome: 'delivered',
    words: 'answers 200',
    retryAfterMs: 0,
  });
  expect(asked).toContain('"topic":"topic-1234"');
  expect(asked).toContain(` POST / Basic ${btoa('me:pass-word')}`);
});

it.each([
  [302, 'refused', 'a redirect, which is not followed'],
  [400, 'refused', 'it refuses the message'],
  [403, 'refused', 'check its user and password in NOTIFY'],
  [404, 'refused', 'there is nothing at this address'],
  [408, 'retry', 'answers 408'],
  [425, 'retry', 'answers 425'],
  [429, 'retry', 'answers 429'],
  [503, 'retry', 'answers 503'],
])('says what an answer of %i means', async (status, outcome, words) => {
  const asked: (string | undefined)[] = [];
  const port = await listen((request, response) => {
    asked.push(request.url);
    response.writeHead(status, { location: '/elsewhere', 'retry-after': '7' });
    response.end('no topic-1234 for pass-word\u001b[31m\n');
  });
  const posted = await postTo(port);
  expect(posted).toMatchObject({ outcome, retryAfterMs: 7_000 });
  expect(posted.words).toContain(words);
  expect(posted.words).toContain('("no … for … [31m")');
  expect(asked).toEqual(['/']);
});

it('reads the beginning of an answer that never ends', async () => {
  const port = await listen((_, response) => {
    response.writeHead(500);
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(1_000)));
    };
    response.on('drain', write);
    write();
  });
  const { outcome, words } = await postTo(port);
  expect(outcome).toBe('retry');
  expect(words.length).toBeLessThan(300);
});

it('says why there is no answer', async () => {
  const port = await listen((request) => request.socket.destroy());
  const { outcome, words } = await postTo(port);
  expect(outcome).toBe('retry');
  expect(words).toMatch(/^does not answer: fetch failed: /);
});
