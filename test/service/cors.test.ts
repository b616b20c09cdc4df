import { expect, it } from 'vitest';
import { event, runService } from './support/run-service.js';

const preflight = {
  method: 'OPTIONS',
  headers: {
    origin: 'https://shop.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
};

it.each(['/v1/event', '/v1/identify'])('answers the preflight of %s', async (path) => {
  const response = await runService().send(path, preflight);
  expect(response.status).toBe(204);
  expect(await response.text()).toBe('');
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST,OPTIONS',
    'access-control-allow-headers': 'authorization,content-type,idempotency-key,x-called-at',
    'access-control-max-age': '7200',
  });
  expect(response.headers.has('access-control-allow-credentials')).toBe(false);
});

it('lets a page read every answer and Retry-After, errors too', async () => {
  const { post, send } = runService();
  const responses = {
    200: await post('/v1/event', event),
    400: await post('/v1/event', {}),
    401: await post('/v1/event', event, { authorization: null }),
    404: await send('/v1/nothing'),
    405: await send('/v1/event'),
    413: await post('/v1/event', ' '.repeat(1024 * 1024 + 1)),
  };
  for (const [status, response] of Object.entries(responses)) {
    expect(String(response.status)).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After');
  }
});
