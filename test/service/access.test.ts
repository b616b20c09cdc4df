import { describe, expect, it } from 'vitest';
import { event, runService } from './support/run-service.js';

const READ = 'read-token';
const READING = [
  ['GET', '/rows'],
  ['GET', '/rows?format=sse'],
  ['GET', '/rows?format=csv'],
  ['GET', '/refused'],
  ['POST', '/refused/resend'],
  ['GET', '/profiles'],
  ['GET', '/counts'],
  ['DELETE', '/users?project=p&user=u'],
  ['GET', '/setup'],
] as const;
const page = (file: string) =>
  file === 'index.html'
    ? { body: '<!doctype html>', type: 'text/html; charset=utf-8' }
    : file === 'rows.js'
      ? { body: 'run()', type: 'text/javascript; charset=utf-8' }
      : undefined;
const statusOf = (response: Response): number => {
  void response.body?.cancel();
  return response.status;
};

describe.each(READING)('%s %s', (method, path) => {
  it('asks for the read token where there is one', async () => {
    const { send } = runService({ readToken: READ, page });
    const with_ = (headers: Record<string, string>) => send(path, { method, headers });
    const response = await with_({});
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({ code: 401, message: /read token/ as never });
    for (const token of ['wrong', 'test-token', `${READ}x`]) {
      expect(statusOf(await with_({ authorization: `Bearer ${token}` }))).toBe(401);
    }
    expect(statusOf(await with_({ authorization: `Bearer ${READ}` }))).not.toBe(401);
  });

  it('is open without one, under the names of this machine alone', async () => {
    const { send } = runService({ page });
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:2', 'shop.localhost']) {
      expect([200, 400]).toContain(statusOf(await send(`http://${host}${path}`, { method })));
    }
    for (const host of [
      'evil.example',
      '192.168.1.9',
      'localhost.evil.example',
      '127.evil.example',
    ]) {
      expect(statusOf(await send(`http://${host}${path}`, { method }))).toBe(403);
    }
  });

  it.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'])(
    'is not open to what comes through a proxy: %s',
    async (name) => {
      const { send } = runService({ page });
      const response = await send(path, { method, headers: { [name]: '192.0.2.1' } });
      expect(statusOf(response)).toBe(403);
    },
  );

  it('gives nothing to a page of another site', async () => {
    const { send } = runService({ page });
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect(statusOf(await send(path, { method, headers }))).toBe(403);
    const preflight = await send(path, { method: 'OPTIONS', headers: { origin: headers.origin } });
    expect(preflight.headers.has('access-control-allow-origin')).toBe(false);
    const plain = await send(path, { method, headers: { origin: headers.origin } });
    expect(plain.headers.has('access-control-allow-origin')).toBe(false);
    await plain.body?.cancel();
  });
});

describe('the page', () => {
  const html = { headers: { accept: 'text/html,*/*' } };

  it('takes the token out of the address and puts a cookie in its place', async () => {
    const { send } = runService({ readToken: READ, page });
    const response = await send(`/rows?project=p&token=${READ}`, html);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/rows?project=p');
    const cookie = response.headers.get('set-cookie')!;
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict/);
    expect(cookie).not.toContain(READ);
    expect(cookie).not.toContain('Secure');
    const headers = { ...html.headers, cookie: `a=b; ${cookie.split(';')[0]!}` };
    expect((await send('/rows', { headers })).status).toBe(200);
    expect((await send('/counts', { headers })).status).toBe(200);
    expect((await send('/rows?token=wrong')).status).toBe(401);
    const wrong = `${cookie.split(';')[0]!.slice(0, -1)}-`;
    expect((await send('/counts', { headers: { cookie: wrong } })).status).toBe(401);
    const secure = await send(`https://rows.example/rows?token=${READ}`, html);
    expect(secure.headers.get('set-cookie')).toContain('; Secure');
  });

  it('comes with a strict policy, and only as the files that there are', async () => {
    const { send } = runService({ page });
    const response = await send('/rows', html);
    expect(await response.text()).toBe('<!doctype html>');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(
        /default-src 'none'.*frame-ancestors 'none'/,
      ),
    });
    expect(await (await send('/rows/rows.js')).text()).toBe('run()');
    for (const path of ['/rows/other.js', '/rows/..%2fpackage.json', '/rows/a/b']) {
      expect((await send(path)).status).toBe(404);
    }
    // A link from elsewhere opens it.
    const headers = {
      ...html.headers,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
    };
    expect((await send('/rows', { headers })).status).toBe(200);
  });

  it('is for everybody, since it holds no rows and asks for the token', async () => {
    const { send } = runService({ readToken: READ, page });
    expect(await (await send('/rows', html)).text()).toBe('<!doctype html>');
    expect(await (await send('/rows/rows.js')).text()).toBe('run()');
    const wrong = await send('/rows?project=p&token=wrong', html);
    expect(wrong.status).toBe(303);
    expect(wrong.headers.get('location')).toBe('/rows?project=p');
    expect(wrong.headers.get('set-cookie')).toBeNull();
    const elsewhere = await runService({ page }).send('http://192.168.1.9/rows', html);
    expect(await elsewhere.text()).toBe('<!doctype html>');
  });

  it('is not there where nobody gives it: a browser gets the JSON', async () => {
    const response = await runService().send('/rows', html);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it('keeps what is read out of caches', async () => {
    const { send } = runService();
    for (const path of [
      '/rows',
      '/rows?format=csv',
      '/refused',
      '/profiles',
      '/counts',
      '/setup',
    ]) {
      const { headers } = await send(path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('write tokens', () => {
  it('write to their own projects alone', async () => {
    const { post, rows } = runService({
      writeTokens: [
        { token: 'of-p', projects: ['p'] },
        { token: 'of-q', projects: ['q', 'r'] },
        { token: 'of-all', projects: '*' },
      ],
    });
    const statusFor = async (token: string, project: string) =>
      (await post('/v1/event', { ...event, project }, { authorization: `Bearer ${token}` })).status;
    expect(await statusFor('of-p', 'p')).toBe(200);
    expect(await statusFor('of-p', 'q')).toBe(403);
    expect(await statusFor('of-q', 'r')).toBe(200);
    expect(await statusFor('of-all', 'x')).toBe(200);
    expect((await rows()).map(({ project }) => project)).toEqual(['p', 'r', 'x']);
  });

  it('read nothing', async () => {
    const { send } = runService({ readToken: READ });
    const response = await send('/rows', { headers: { authorization: 'Bearer test-token' } });
    expect(response.status).toBe(401);
  });
});

describe('pages of other origins', () => {
  const preflight = async (options: object, origin: string, path = '/v1/event') =>
    runService(options).send(path, { method: 'OPTIONS', headers: { origin } });

  it.each(['/v1/event', '/v1/identify'])('may send to %s', async (path) => {
    const response = await preflight({}, 'https://shop.example', path);
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

  it('are those that are listed, if some are', async () => {
    const listed = { origins: ['https://a.example'] };
    const allowed = async (origin: string) =>
      (await preflight(listed, origin)).headers.get('access-control-allow-origin');
    expect(await allowed('https://a.example')).toBe('https://a.example');
    expect(await allowed('https://b.example')).toBeNull();
  });

  it('may read every answer and Retry-After, errors too', async () => {
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
});

describe('options', () => {
  it('are checked, and named in words', () => {
    expect(() => runService({ writeTokens: [] })).toThrow(/`writeTokens` must be a list/);
    expect(() => runService({ writeTokens: [{ token: 'a b', projects: '*' }] })).toThrow(
      /`writeTokens`/,
    );
    expect(() => runService({ readToken: '' })).toThrow(/`readToken`/);
    expect(() => runService({ origins: ['https://a.example/'] })).toThrow(/`origins`/);
    expect(() => runService({ retentionDay: 3 } as never)).toThrow(/did you mean `retentionDays`/);
    expect(() => runService({ rateLimit: undefined })).toThrow(/`clientAddress` is missing/);
  });
});
