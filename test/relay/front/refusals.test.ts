import { expect, it } from 'vitest';
import type { Refusal } from '../../../src/relay.js';
import { createRelay, type RelayOptions } from '../../../src/relay.js';
import { event } from '../helpers/records.js';

const setUp = (options: Partial<RelayOptions> = {}) => {
  const refused: Refusal[] = [];
  const sent: unknown[] = [];
  const relay = createRelay({
    origins: (origin) => new URL(origin).hostname === 'localhost',
    projects: '*',
    channels: ['c'],
    rateLimit: false,
    send: async (records) => {
      sent.push(...records);
      return records.map(() => ({ outcome: 'delivered', status: 200 }));
    },
    onRefused: (refusal) => refused.push(refusal),
    ...options,
  });
  const post = (records: unknown, origin = 'http://localhost:5173') =>
    relay(
      new Request('http://localhost:3000/a/v1/batch', {
        method: 'POST',
        headers: { origin, 'content-type': 'text/plain' },
        body: JSON.stringify({ sent_at: '2026-01-01T00:00:00.000Z', records }),
      }),
    );
  const told = () => refused.map(({ status, message }) => [status, message]);
  return { sent, post, told, refused };
};

it('tells what is wrong with each record that it refuses, and sends the others on', async () => {
  const { sent, post, told, refused } = setUp();
  const wrong = { ...event('e2').body, tags: 'none' };
  const records = [
    event('e1'),
    { id: 'e2', type: 'event', body: wrong },
    { id: 'e3', type: 'purchase', body: {} },
    { id: 'e4', type: 'event', body: { ...event('e4').body, channel: 'chat' } },
    { id: 'e5', type: 'event', body: null },
  ];
  await post(records);
  expect(sent).toEqual([event('e1')]);
  expect(told()).toEqual([
    [400, 'tags must be an object'],
    [400, 'type must be "identify" or "event"'],
    [403, 'channel "chat" is not in the list `channels` of the relay'],
    [400, 'the body must be an object, 200 levels at the most'],
  ]);
  expect(refused[0]!.record).toMatchObject({ id: 'e2', body: wrong });
});

it('tells of a request that it refuses as a whole, and takes a page whose origin the function allows', async () => {
  const { sent, post, told } = setUp();
  await post([event('e1')], 'https://evil.example');
  await post('no list');
  expect(sent).toEqual([]);
  expect(told()).toEqual([
    [403, 'Not allowed'],
    [400, 'Invalid request data: records must be a list'],
  ]);
  await post([event('e1')]);
  expect(sent).toHaveLength(1);
});

it('passes on the time of a call, and no other that is none', async () => {
  const { sent, post } = setUp();
  await post([
    { ...event('e1'), called_at: 1_700_000_000_000 },
    { ...event('e2'), called_at: 'yesterday' },
    { ...event('e3'), called_at: 1e300 },
  ]);
  expect(sent).toEqual([
    { ...event('e1'), called_at: 1_700_000_000_000 },
    event('e2'),
    event('e3'),
  ]);
});

it('goes on where the hook throws', async () => {
  const { post } = setUp({
    onRefused: () => {
      throw new Error('no disk');
    },
  });
  expect((await post('no list')).status).toBe(400);
});
