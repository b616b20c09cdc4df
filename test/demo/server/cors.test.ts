import { expect, test } from 'vitest';
import { runService } from './helpers/run-service';
import { event } from './helpers/service-client';

const preflight = {
  method: 'OPTIONS',
  headers: {
    origin: 'https://shop.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
};

test.each(['/v1/event', '/v1/identify'])('answers the preflight of %s', async (path) => {
  const service = await runService();
  const response = await service.send(path, preflight);
  expect(response.status).toBe(204);
  expect(await response.text()).toBe('');
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST, OPTIONS',
    'access-control-allow-headers': 'authorization, content-type, idempotency-key',
    'access-control-max-age': '7200',
  });
  expect(response.headers.has('access-control-allow-credentials')).toBe(false);
});

test('allows the methods of the reading side', async () => {
  const service = await runService();
  const response = await service.send('/_/records', preflight);
  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-methods')).toBe(
    'GET, POST, PUT, DELETE, OPTIONS',
  );
});

test('lets a page read every answer and Retry-After, errors too', async () => {
  const service = await runService();
  const responses = {
    200: await service.post('/v1/event', event),
    400: await service.post('/v1/event', {}),
    401: await service.post('/v1/event', event, { authorization: null }),
    404: await service.send('/v1/nothing'),
    405: await service.send('/v1/event'),
    413: await service.post('/v1/event', ' '.repeat(1024 * 1024 + 1)),
  };
  for (const [status, response] of Object.entries(responses)) {
    expect(String(response.status)).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After');
  }
  const reading = await service.send('/_/events');
  expect(reading.headers.get('access-control-allow-origin')).toBe('*');
  expect(reading.headers.get('cache-control')).toBe('no-store');
});
