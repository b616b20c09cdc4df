import { once } from 'node:events';
import { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../../src/program/listen.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Listens, and answers each request when it is told to. */
const open = async (more: { openFiles?: number } = {}) => {
  const waiting: (() => void)[] = [];
  const door = await listen({
    ...{ name: 'PORT', host: '127.0.0.1', port: 0, ...more },
    answer: () => new Promise((resolve) => waiting.push(() => resolve(new Response('yes')))),
  });
  onTestFinished(() => door.end());
  /** Sends a text on a connection of its own, and answers what comes back. */
  const send = (text: string) => {
    const socket: Socket = connect(door.port, '127.0.0.1', () => socket.write(text));
    onTestFinished(() => void socket.destroy());
    let got = '';
    socket.setEncoding('latin1').on('data', (part: string) => (got += part));
    return { socket, got: () => got };
  };
  return { waiting, send, door };
};

it('takes up only the first of many requests that a connection sends without waiting', async () => {
  const { waiting, send, door } = await open();
  const { socket, got } = send(REQUEST.repeat(1_000));
  await expect.poll(() => waiting.length).toBe(16);
  const other = send(REQUEST);
  await expect.poll(() => waiting.length).toBe(17);
  for (const answer of waiting) answer();
  await expect.poll(() => other.got()).toContain('yes');
  await expect.poll(() => got().split('yes').length - 1).toBe(16);
  socket.write(REQUEST.repeat(1_000));
  const last = send(REQUEST);
  await expect.poll(() => waiting.length).toBe(18);
  waiting[17]!();
  await expect.poll(() => last.got()).toContain('yes');
  // Closed at once, it would only be opened again.
  expect(socket.closed).toBe(false);
  const closed = once(socket, 'close');
  await door.end();
  await closed;
  expect(waiting).toHaveLength(18);
});

it('keeps idle connections for longer than browsers and proxies do', async () => {
  const { waiting, send } = await open();
  const { got } = send(REQUEST);
  await expect.poll(() => waiting.length).toBe(1);
  waiting[0]!();
  await expect.poll(got).toContain('yes');
  expect(got()).toMatch(/^keep-alive: timeout=75\r$/im);
});

it('closes those that have been idle the longest where the open files run short, and no busy one', async () => {
  const { waiting, send } = await open({ openFiles: 10 });
  const connections = Array.from({ length: 9 }, () => send(REQUEST));
  await expect.poll(() => waiting.length).toBe(9);
  // All but the first get their answers, the later ones first.
  for (const index of [8, 7, 6, 5, 4, 3, 2, 1]) {
    waiting[index]!();
    await expect.poll(connections[index]!.got).toContain('yes');
  }
  await expect.poll(() => connections.filter(({ got }) => got().includes('yes')).length).toBe(8);
  const late = Array.from({ length: 3 }, () => send(REQUEST));
  await expect.poll(() => waiting.length).toBe(12);
  await expect.poll(() => connections.filter(({ socket }) => socket.closed).length).toBe(3);
  expect(connections.map(({ socket }) => socket.closed).indexOf(true)).toBe(6);
  // One that was busy all the while is answered, and so are the late ones.
  for (const answer of waiting) answer();
  for (const { got } of [connections[0]!, ...late]) await expect.poll(got).toContain('yes');
});

it('cuts a file off where it fails, and writes nothing past the log', async () => {
  const written = vi.spyOn(console, 'error');
  onTestFinished(() => written.mockRestore());
  const door = await listen({
    ...{ name: 'PORT', host: '127.0.0.1', port: 0 },
    answer: ({ url }) => {
      const parts = new URL(url).pathname === '/whole' ? ['some', 'more'] : ['some'];
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const part = parts.shift();
          if (part) controller.enqueue(new TextEncoder().encode(part));
          else if (url.endsWith('/whole')) controller.close();
          else throw new Error('away');
        },
      });
      return new Response(body, { headers: { 'content-disposition': 'attachment' } });
    },
  });
  onTestFinished(() => door.end());
  const whole = await fetch(`http://127.0.0.1:${door.port}/whole`);
  expect(whole.headers.get('content-disposition')).toBe('attachment');
  expect(await whole.text()).toBe('somemore');
  const broken = async () => (await fetch(`http://127.0.0.1:${door.port}/broken`)).text();
  await expect(broken()).rejects.toThrow();
  expect(written).not.toHaveBeenCalled();
});

it.each([
  ['400 Bad Request', 'no request\r\n\r\n'],
  ['431 Request Header Fields Too Large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
])('answers %s to what is no proper request', async (status, text) => {
  const { send } = await open();
  const { socket, got } = send(text);
  await once(socket, 'close');
  expect(got()).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
});

it('closes the connection of what is no proper request, though its client leaves it open', async () => {
  const { door } = await open();
  const client = connect({ port: door.port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void client.destroy());
  client.resume().write('no request\r\n\r\n');
  await once(client, 'end');
  const cutOff = vi.spyOn(Server.prototype, 'closeAllConnections');
  onTestFinished(() => void cutOff.mockRestore());
  await door.end();
  expect(cutOff).not.toHaveBeenCalled();
  expect(client.writable).toBe(true);
});
