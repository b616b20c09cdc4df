import { expect, it } from 'vitest';
import { createDirectSend } from '../../../../src/client/delivery/send/direct.js';
import type { Settings } from '../../../../src/client/options.js';

const RECORD = { id: 'id-1', type: 'event' as const, body: '{"event":"A"}', at: 0, attempts: 0 };

it.each([true, false])('sends a record to its operation, with a key if it may: %s', async (key) => {
  const asked: [string, RequestInit][] = [];
  const settings = {
    ...{ baseUrl: 'https://in.example.com', token: 't', timeout: 1_000, idempotencyKey: key },
    fetch: async (url: string, init: RequestInit) => {
      asked.push([url, init]);
      return Response.json({ success: true });
    },
  } as unknown as Settings;
  const [send] = createDirectSend(() => settings);
  const how = { keepalive: true, controller: new AbortController(), isSilent: false };
  expect(await send([RECORD], how)).toMatchObject([{ outcome: 'delivered', status: 200 }]);
  const [[url, init]] = asked as [[string, RequestInit]];
  expect(url).toBe('https://in.example.com/v1/event');
  expect(init).toMatchObject({ method: 'POST', body: RECORD.body, credentials: 'omit' });
  expect(init.headers).toEqual({
    authorization: 'Bearer t',
    'content-type': 'application/json',
    ...(key && { 'idempotency-key': 'id-1' }),
  });
});
