import { expect, it } from 'vitest';
import type { BatchRecord, Refusal, RelayOptions } from '../../src/relay.js';
import { event } from './helpers/records.js';
import { setUpRelay } from './helpers/relay.js';

/** A relay for any page of this machine and any project, which hands records to a function and tells what it refuses. */
const setUp = (options: Partial<RelayOptions> = {}) => {
  const refused: Refusal[] = [];
  const sent: BatchRecord[] = [];
  const { batch, post } = setUpRelay({
    ...{ baseUrl: undefined, token: undefined, rateLimit: false },
    origins: (origin) => new URL(origin).hostname === 'localhost',
    projects: '*',
    send: async (records) => {
      sent.push(...records);
      return records.map(() => ({ outcome: 'delivered', status: 200 }));
    },
    onRefused: (refusal) => refused.push(refusal),
    ...options,
  });
  const told = () => refused.map(({ status, message }) => [status, message]);
  const local = { origin: 'http://localhost:5173', 'content-type': 'text/plain' };
  return {
    ...{ sent, told, refused },
    batch: (records: readonly unknown[], headers = {}) => batch(records, { ...local, ...headers }),
    postNonsense: () => post('/v1/batch', { sent_at: 'x', records: 'no list' }, local),
  };
};

it('tells what is wrong with each record that it refuses, and sends the others on', async () => {
  const { sent, batch, told, refused } = setUp();
  const wrong = { ...event('e2').body, tags: 'none' };
  await batch([
    event('e1'),
    { id: 'e2', type: 'event', body: wrong },
    { id: 'e3', type: 'purchase', body: {} },
    { id: 'e4', type: 'event', body: { ...event('e4').body, channel: 'chat' } },
    { id: 'e5', type: 'event', body: null },
    event('e6', 'e6', 'u'.repeat(1_025)),
  ]);
  expect(sent).toEqual([event('e1')]);
  expect(told()).toEqual([
    [400, 'tags must be an object'],
    [400, 'type must be "identify" or "event"'],
    [403, 'channel "chat" is not in the list `channels` of the relay'],
    [400, 'the body must be an object, 200 levels at the most'],
    [400, 'user_id must have 1,024 bytes at the most'],
  ]);
  expect(refused[0]!.record).toMatchObject({ id: 'e2', body: wrong });
});

it('tells of a request that it refuses as a whole, and takes a page whose origin the function allows', async () => {
  const { sent, batch, postNonsense, told } = setUp();
  await batch([event('e1')], { origin: 'https://evil.example' });
  await postNonsense();
  expect(sent).toEqual([]);
  expect(told()).toEqual([
    [403, 'Not allowed'],
    [400, 'Invalid request data: records must be a list'],
  ]);
  await batch([event('e1')]);
  expect(sent).toHaveLength(1);
});

it('passes on the time of a call, and no other that is none', async () => {
  const { sent, batch } = setUp();
  const times = [1_700_000_000_000, 'yesterday', 1e300];
  await batch(times.map((called_at, n) => ({ ...event(`e${n}`), called_at })));
  expect(sent).toEqual([
    { ...event('e0'), called_at: 1_700_000_000_000 },
    event('e1'),
    event('e2'),
  ]);
});

it('goes on where the hook throws', async () => {
  const onRefused = () => {
    throw new Error('no disk');
  };
  expect((await setUp({ onRefused }).postNonsense()).status).toBe(400);
});
