import { describe, expect, it } from 'vitest';
import { parseNotifyAddress } from '../../../src/server/exports/notify-address.js';
import { createMessage } from '../../../src/server/exports/notify-message.js';
import { createPost } from '../../../src/server/exports/notify-post.js';
import { listen } from '../support/relay.js';

const TIME = '2026-03-01T12:00:00.000Z';
const row = { id: 'i', called_at: TIME, received_at: TIME };
const MESSAGE = createMessage([
  { ...{ project: 'p', channel: 'c', event: 'e', place: 1, count: 1 }, first: row, last: row },
]);

const postsTo = (port: number, publicUrl?: string) => {
  const address = parseNotifyAddress(`ntfy+http://me:pass-word@127.0.0.1:${port}/topic-1234`)!;
  return createPost({ address, secrets: [], publicUrl });
};
const postTo = (port: number) => postsTo(port)(MESSAGE);

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
  [403, 'refused', 'check its user and password in NOTIFY'],
  [404, 'refused', 'there is nothing at this address'],
  [415, 'refused', 'it refuses messages: check the address in NOTIFY'],
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

describe('a message that its receiver refuses', () => {
  const long = createMessage([
    {
      ...{ project: 'p', channel: 'c', event: 'e'.repeat(100), place: 1, count: 1 },
      first: { ...row, id: 'long' },
      last: { ...row, description: 'a description', icon: '🛒' },
    },
  ]);
  /** A receiver that gives these answers, one after the other. */
  const receive = async (...statuses: number[]) => {
    const asked: Record<string, string>[] = [];
    const port = await listen(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      asked.push(JSON.parse(text) as Record<string, string>);
      response.writeHead(statuses[asked.length - 1] ?? 200).end();
    });
    return { asked, post: postsTo(port, 'https://in.example') };
  };

  it.each([400, 409, 413, 422])('is sent bare after %i', async (status) => {
    const { asked, post } = await receive(status);
    expect((await post(long)).outcome).toBe('delivered');
    expect(asked).toHaveLength(2);
    expect(asked[0]).toHaveProperty('click');
    expect(asked[1]).toEqual({
      ...{ topic: 'topic-1234', title: `${'e'.repeat(39)}…`, message: 'p/c' },
      sequence_id: asked[0]!['sequence_id'],
    });
  });

  it('is dropped if it is refused bare, too', async () => {
    const { asked, post } = await receive(400, 422);
    expect(await post(long)).toMatchObject({
      outcome: 'dropped',
      words: 'answers 422: it refuses the message, even in its shortest form',
    });
    expect(asked).toHaveLength(2);
  });

  it('is sent bare alone when the receiver was away in between', async () => {
    const { asked, post } = await receive(400, 503, 400);
    expect((await post(long)).outcome).toBe('retry');
    expect((await post(long)).outcome).toBe('dropped');
    expect(asked).toHaveLength(3);
    // The next message is whole.
    await post(MESSAGE);
    expect(asked.at(-1)).toHaveProperty('click');
  });
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
