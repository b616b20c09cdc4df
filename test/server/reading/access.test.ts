import { describe, expect, it, vi } from 'vitest';
import type { Hours } from '../../../src/server/store/port.js';
import { readEvents, type ServerSentEvent } from '../support/read-events.js';
import { event, runService, TOKEN } from '../support/run-service.js';

const READ = 'a-read-token-for-tests';
const READING = [
  ['GET', '/rows'],
  ['GET', '/rows?format=sse'],
  ['GET', '/rows?format=csv'],
  ['GET', '/refused'],
  ['POST', '/refused/resend'],
  ['GET', '/profiles'],
  ['GET', '/counts'],
  ['DELETE', '/rows?project=p&dry=1'],
  ['GET', '/users?project=p&user=u'],
  ['DELETE', '/users?project=p&user=u'],
  ['GET', '/exports'],
  ['GET', '/setup'],
] as const;
const page = (file: string) =>
  file === 'index.html'
    ? { body: '<!doctype html>', type: 'text/html; charset=utf-8' }
    : file === 'rows.js'
      ? { body: 'run()', type: 'text/javascript; charset=utf-8' }
      : undefined;

interface Asking {
  /** Whether the service has a read token. */
  isKept?: boolean;
  host?: string;
  headers?: Record<string, string>;
  /** The status that keeps the asker out. */
  refused?: number;
}
const origin = 'https://evil.example';
const withToken = (token: string): Asking => ({
  ...{ isKept: true, headers: { authorization: `Bearer ${token}` } },
});
/** Who asks, of a service with a read token or of one that is open on its own machine. */
const ASKING: readonly Asking[] = [
  { isKept: true, refused: 401 },
  ...['wrong', TOKEN, `${READ}x`].map((token) => ({ ...withToken(token), refused: 401 })),
  withToken(READ),
  ...['localhost:1', '127.0.0.1', '[::1]:2', 'shop.localhost'].map((host) => ({ host })),
  ...['evil.example', '192.168.1.9', 'localhost.evil.example', '127.evil.example'].map((host) => ({
    ...{ host, refused: 403 },
  })),
  // Through a proxy it may be anybody.
  ...['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'].map((name) => ({
    ...{ headers: { [name]: '192.0.2.1' }, refused: 403 },
  })),
  { headers: { origin, 'sec-fetch-site': 'cross-site' }, refused: 403 },
];
/** A browser that does not say whose page asks names the origin at least. What reads may be asked for: nobody sees the answer. */
const ORIGINS: readonly (readonly [own: boolean, headers: Record<string, string>])[] = [
  [true, {}],
  [true, { origin: 'http://localhost:8787' }],
  [true, { origin: 'https://shop.example', 'x-forwarded-host': 'shop.example' }],
  [true, { origin, 'sec-fetch-site': 'same-origin' }], // a proxy may have written another `Host`
  [false, { origin }],
  [false, { origin: 'null' }],
  [false, { origin: 'http://localhost:5173' }],
  [false, { origin, 'sec-fetch-site': 'same-site' }],
];

it.each(READING)('%s %s is for who may read, and for no cache', async (method, path) => {
  const [open, kept] = [runService({ page }), runService({ page, readToken: READ })];
  const usual = path === '/refused/resend' ? 400 : 200;
  for (const asking of ASKING) {
    const { isKept, host = 'localhost', headers = {}, refused = usual } = asking;
    const { send } = isKept ? kept : open;
    const response = await send(`http://${host}${path}`, { method, headers });
    expect([asking, response.status]).toEqual([asking, refused]);
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
    expect(response.headers.get('www-authenticate')).toBe(refused === 401 ? 'Bearer' : null);
    if (refused === 200) {
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    if (refused === 401) {
      const message = expect.stringContaining('read token');
      expect(await response.json()).toEqual({ code: 401, message });
    } else await response.body?.cancel();
  }
  const preflight = await open.send(path, { method: 'OPTIONS', headers: { origin } });
  expect(preflight.headers.has('access-control-allow-origin')).toBe(false);
});

it.each(READING)('%s %s obeys no page of another site', async (method, path) => {
  const { send } = runService({ readToken: READ });
  const usual = path === '/refused/resend' ? 400 : 200;
  for (const [own, more] of ORIGINS) {
    const headers = { authorization: `Bearer ${READ}`, ...more };
    const { status, body } = await send(`http://localhost:8787${path}`, { method, headers });
    await body?.cancel();
    const isRefused = !own && (method !== 'GET' || 'sec-fetch-site' in more);
    expect([more, status]).toEqual([more, isRefused ? 403 : usual]);
  }
});

it('is open to nobody without a read token where its origins are not those of this machine', async () => {
  const { send } = runService({ origins: ['https://shop.example'] });
  const response = await send('/rows');
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ message: expect.stringContaining('read token') });
  expect((await runService({ origins: ['http://localhost:5173'] }).send('/rows')).status).toBe(200);
});

describe('the page', () => {
  const html = { headers: { accept: 'text/html,*/*' } };

  it('takes the token out of the address and puts a cookie in its place', async () => {
    const { send } = runService({ readToken: READ, page });
    const response = await send(`/rows?project=p&token=${READ}`, html);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('rows?project=p');
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
    const headersOfProxy = { ...html.headers, 'x-forwarded-proto': 'https' };
    const behind = await send(`/rows?token=${READ}`, { headers: headersOfProxy });
    expect(behind.headers.get('set-cookie')).toContain('; Secure');
  });

  it('has a cookie of its own, so that services of one host do not log each other out', async () => {
    const tokens = [READ, `${READ}-of-another`];
    const services = tokens.map((readToken) => runService({ readToken, page }));
    const cookies = await Promise.all(
      services.map(async ({ send }, index) => {
        const response = await send(`/rows?token=${tokens[index]}`, html);
        const cookie = response.headers.get('set-cookie')!;
        // The browser makes it the path under which it sees the page.
        expect(cookie).not.toContain('Path=');
        return cookie.split(';')[0]!;
      }),
    );
    // A browser keeps one cookie of a name.
    expect(new Set(cookies.map((cookie) => cookie.split('=')[0])).size).toBe(2);
    for (const { send } of services)
      expect((await send('/counts', { headers: { cookie: cookies.join('; ') } })).status).toBe(200);
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
    const small = await send('/rows/rows.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(small.headers.get('content-encoding')).toBe('gzip');
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
    expect(wrong.headers.get('location')).toBe('rows?project=p');
    expect(wrong.headers.get('set-cookie')).toBeNull();
    const elsewhere = await runService({ page }).send('http://192.168.1.9/rows', html);
    expect(await elsewhere.text()).toBe('<!doctype html>');
  });

  it('is not there where nobody gives it: a browser gets the JSON', async () => {
    const response = await runService().send('/rows', html);
    expect(response.headers.get('content-type')).toBe('application/json');
  });
});

describe('a token of one project', () => {
  const [OF_A, OF_C] = ['a-read-token-of-project-a', 'a-read-token-of-project-c'];
  const readTokens = [
    { token: OF_A, project: 'a' },
    { token: OF_C, project: 'c' },
  ];
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  type Running = ReturnType<typeof runService>;

  /** Stores a row and a profile of a project, and has records of it refused, each with this word in it. */
  const fill = async ({ post, store }: Running, project: string, word: string) => {
    await post('/v1/event', { ...event, project, event: `${word}-row` });
    await post('/v1/identify', { project, user_id: `${word}-user`, properties: {} });
    const [received_at, user_id] = [new Date().toISOString(), `${word}-user`];
    const what = {
      received_at,
      reason: 'database',
      status: 422,
      message: `${word}-refused`,
    } as const;
    await store.refuse([{ ...what, project, user_id }]);
  };
  /** Two projects, and something refused that names none. */
  const runTwo = async () => {
    const running = runService({ readToken: READ, readTokens, page, tag: 'theirs-tag' });
    await fill(running, 'a', 'mine');
    await fill(running, 'b', 'theirs');
    await running.post('/v1/event', '{ "theirs"');
    await vi.waitUntil(async () => (await running.store.countRefused()) === 3);
    return running;
  };
  /** All of an answer; of a stream what comes until it is ready. */
  const textOf = async (response: Response): Promise<string> => {
    if (response.headers.get('content-type') !== 'text/event-stream') return response.text();
    return JSON.stringify(await readEvents(response).until(isReady));
  };
  const isReady = (seen: readonly ServerSentEvent[]) => seen.some(({ name }) => name === 'ready');

  const FORMATS = ['json', 'ndjson', 'csv', 'sse'].map((format) => `/rows?format=${format}`);
  const FILTERS = [
    ...['', 'project=', 'project=a', 'mine=1', 'type=identify', 'newest=1', 'limit=1', 'bom=1'],
    ...['user=theirs-user', 'event=theirs-row', 'not=mine-row', 'text=theirs', 'channel=c'],
    ...['after=0', 'after=1', 'after=1.1', 'before=99', 'after=["a","zzz"]', 'onlyProject=b'],
  ];
  const FOREIGN = ['project=b', 'project=a&project=b', 'project=b&project=a', 'project=*'];

  it.each([...FORMATS, '/refused?', '/profiles?', '/counts?'])(
    'sees nothing of another project at %s, whatever filter it asks for',
    async (path) => {
      const { send } = await runTwo();
      const seenBy = async (token: string, filter = '') => {
        const response = await send(`${path}&${filter}`, { headers: bearer(token) });
        return [response.status, await textOf(response)] as const;
      };
      for (const filter of FILTERS) {
        const [status, text] = await seenBy(OF_A, filter);
        // Not each path has each filter.
        expect([filter, status]).toEqual([filter, expect.toBeOneOf([200, 400])]);
        expect([filter, text]).toEqual([filter, expect.not.stringMatching(/theirs|"b"/)]);
      }
      for (const filter of FOREIGN) {
        const message = 'This token reads the project "a" alone.';
        const [status, text] = await seenBy(OF_A, filter);
        expect([status, JSON.parse(text)]).toEqual([403, { code: 403, message }]);
      }
      const [[, own], [, ofNone], [, all]] = [
        await seenBy(OF_A),
        await seenBy(OF_C),
        await seenBy(READ),
      ];
      const isCounts = path.startsWith('/counts');
      expect(own).toMatch(isCounts ? /"a".*"refused":1/ : /mine/);
      expect(ofNone).toMatch(isCounts ? /\[\],"refused":0/ : /^(?!.*mine)/s);
      expect(all).toMatch(isCounts ? /"b".*"refused":3/ : /theirs/);
    },
  );

  it('sees all of one user of its project, and no user of another project', async () => {
    const { send } = await runTwo();
    const seenBy = async (token: string, query: string) => {
      const response = await send(`/users?${query}`, { headers: bearer(token) });
      return [response.status, await response.text()] as const;
    };
    expect(await seenBy(READ, 'project=b&user=theirs-user')).toEqual([
      ...[200, expect.stringMatching(/"profile".*theirs/)],
    ]);
    for (const format of ['json', 'ndjson']) {
      const [status, text] = await seenBy(OF_A, `user=mine-user&format=${format}`);
      expect([status, text]).toEqual([200, expect.stringMatching(/mine-user.*"type":"identify"/s)]);
      const theirs = await seenBy(OF_A, `user=theirs-user&format=${format}`);
      expect(theirs).toEqual([200, expect.not.stringContaining('theirs')]);
      for (const filter of FOREIGN)
        expect((await seenBy(OF_A, `${filter}&user=theirs-user`))[0]).toBe(403);
    }
  });

  it('counts by hour the rows of its project alone, whatever filter it asks for', async () => {
    const { send } = await runTwo();
    const countedBy = async (token: string, filter = '') => {
      const response = await send(`/counts?by=hour&split=event&${filter}`, {
        headers: bearer(token),
      });
      const { hours, events } = (await response.json()) as Partial<Hours>;
      if (token === OF_A) expect(JSON.stringify(events ?? [])).not.toContain('theirs');
      return hours?.reduce((sum, { rows }) => sum + rows, 0) ?? response.status;
    };
    const [own, ofNone, all] = [
      await countedBy(OF_A),
      await countedBy(OF_C),
      await countedBy(READ),
    ];
    expect([own, ofNone]).toEqual([expect.toSatisfy((sum) => sum > 0 && sum < Number(all)), 0]);
    for (const filter of ['project=', 'project=a', 'onlyProject=b'])
      expect([filter, await countedBy(OF_A, filter)]).toEqual([filter, own]);
    expect(await countedBy(OF_A, 'event=theirs-row')).toBe(0);
    for (const filter of FOREIGN) expect(await countedBy(OF_A, filter)).toBe(403);
  });

  it('sees nothing of another project as it arrives, nor when it comes again', async () => {
    const running = await runTwo();
    const open = async (more = {}) => {
      const headers = { ...bearer(OF_A), ...more };
      return readEvents(await running.send('/rows?format=sse', { headers }));
    };
    const feed = await open();
    const ofAll = readEvents(await running.send('/rows?format=sse', { headers: bearer(READ) }));
    const [ready] = (await feed.until(isReady)).slice(-1);
    expect(ready!.data).toEqual({ onlyProject: 'a' });
    for (const [project, user_id] of [
      ['b', 'theirs-user'],
      ['a', 'mine-user'],
    ] as const)
      await running.store.erase({ project, user_id });
    await feed.until((seen) => JSON.stringify(seen).includes('"erased"'));
    await fill(running, 'b', 'theirs-later');
    await fill(running, 'a', 'mine-later');
    const isThere = (seen: readonly ServerSentEvent[]) =>
      ['mine-later-row', 'mine-later-refused'].every((word) => JSON.stringify(seen).includes(word));
    expect(JSON.stringify(await feed.until(isThere))).not.toMatch(/theirs|"b"|"setup"/);
    // Others see all of it, though they share what is read.
    expect(JSON.stringify(await ofAll.until(isThere))).toMatch(
      /theirs-later-row.*theirs-later-ref/,
    );
    const again = await open({ 'last-event-id': ready!.id });
    const seen = JSON.stringify(await again.until(isReady));
    expect(seen).toMatch(/mine-later-row.*mine-later-refused/);
    expect(seen).not.toMatch(/theirs|"b"/);
  });

  it.each([
    ['DELETE', '/users?project=a&user=mine-user'],
    ['DELETE', '/rows?project=a&dry=1'],
    ['DELETE', '/rows?project=a&upto=99'],
    ['POST', '/refused/resend'],
    ['GET', '/setup'],
    ['GET', '/counts/'],
  ])('is told in words that %s %s is not for it', async (method, path) => {
    const { send, store } = await runTwo();
    const response = await send(path, { method, headers: bearer(OF_A) });
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({
      code: 403,
      message: expect.stringContaining(
        'reads the rows, profiles, counts, refused records and health of one',
      ),
    });
    expect(await store.counts()).toHaveLength(4);
    expect(await store.countRefused()).toBe(3);
  });

  it('opens the page by a cookie; the one that was given last counts', async () => {
    const { send } = await runTwo();
    const jar = new Map<string, string>();
    const cookies = () => ({ cookie: [...jar].map((pair) => pair.join('=')).join('; ') });
    const unlock = async (token: string) => {
      const headers = { accept: 'text/html', ...cookies() };
      const response = await send(`/rows?token=${token}`, { headers });
      expect([response.status, response.headers.get('location')]).toEqual([303, 'rows']);
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value, age] = /^(\w+)=(\w*); .*Max-Age=(\d+)/.exec(cookie)!;
        if (age === '0') jar.delete(name!);
        else jar.set(name!, value!);
      }
    };
    const projects = async () => {
      const response = await send('/rows?format=json', { headers: cookies() });
      const { rows } = (await response.json()) as { rows: { project: string }[] };
      return new Set(rows.map(({ project }) => project));
    };
    for (const [token, seen] of [
      [OF_A, ['a']],
      [READ, ['a', 'b']],
      [OF_C, []],
      [OF_A, ['a']],
    ] as const) {
      await unlock(token);
      expect([token, await projects(), jar.size]).toEqual([token, new Set(seen), 1]);
    }
    expect((await send('/setup', { headers: cookies() })).status).toBe(403);
  });

  it('closes what is open on this machine without any token', async () => {
    const { send } = runService({ readTokens });
    expect((await send('/rows')).status).toBe(401);
    expect((await send('/rows', { headers: bearer(OF_A) })).status).toBe(200);
  });
});

it('lets write tokens write to their own projects alone', async () => {
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

it('asks for a listed origin below the path of the relay, and for a token everywhere else', async () => {
  const { send, store } = runService({ relayPath: '/a', origins: ['https://a.example'] });
  const statusOf = async (path: string, headers: Record<string, string>) => {
    const type = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(event) };
    return (await send(path, init)).status;
  };
  const [page, stranger] = [{ origin: 'https://a.example' }, { origin: 'https://b.example' }];
  const token = { authorization: `Bearer ${TOKEN}` };
  expect(await statusOf('/a/v1/event', page)).toBe(200);
  expect(await statusOf('/a/v1/event', { ...page, authorization: 'Bearer none' })).toBe(200);
  expect(await statusOf('/a/v1/event', stranger)).toBe(403);
  expect(await statusOf('/a/v1/event', { ...stranger, ...token })).toBe(403);
  expect(await statusOf('/v1/event', page)).toBe(401);
  expect(await statusOf('/v1/event', { ...stranger, ...token })).toBe(200);
  // A page of any site can send this without a preflight.
  const plain = { 'content-type': 'text/plain' };
  expect(await statusOf('/v1/event', { ...page, ...token, ...plain })).toBe(415);
  expect(await statusOf('/a/v1/event', { ...page, ...plain })).toBe(200);
  expect(await store.lastPlace()).toBe(4);
});

it('has one account for a client, whatever the door, and another for a token with a rate of its own', async () => {
  const { send } = runService({
    ...{ relayPath: '/a', origins: ['https://a.example'], clientAddress: () => '192.0.2.1' },
    rateLimit: { perSecond: 0.001, burst: 5 },
    ceiling: { perSecond: 0.001, burst: 8 },
    writeTokens: [
      { token: TOKEN, projects: '*' },
      { token: 'relay', projects: '*', rate: false },
      { token: 'slow', projects: '*', rate: { perSecond: 0.001, burst: 1 } },
    ],
  });
  const statusOf = async (path: string, token = TOKEN) => {
    const headers = {
      ...{ 'content-type': 'application/json', origin: 'https://a.example' },
      authorization: `Bearer ${token}`,
    };
    return (await send(path, { method: 'POST', headers, body: JSON.stringify(event) })).status;
  };
  const statuses = [];
  for (let n = 0; n < 4; n++)
    statuses.push(await statusOf('/a/v1/event'), await statusOf('/v1/event'));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  expect([await statusOf('/v1/event', 'slow'), await statusOf('/v1/event', 'slow')]).toEqual([
    200, 429,
  ]);
  // The ceiling holds for all of them together.
  const ofRelay = [];
  for (let n = 0; n < 3; n++) ofRelay.push(await statusOf('/v1/event', 'relay'));
  expect(ofRelay).toEqual([200, 200, 503]);
});

it('answers where the address is none, as with a wrong `Host`', async () => {
  const { service } = runService({ relayPath: '/a', origins: ['https://a.example'] });
  const odd = (path: string) => {
    const url = `http://1.2.3.4.5${path}`;
    return service({ url, method: 'POST', headers: new Headers() } as Request);
  };
  expect((await odd('/a/v1/batch')).status).toBe(404);
  expect((await odd('/v1/batch')).status).toBe(401);
});

it('lets pages of any site send with a token, compressed too', async () => {
  const { send } = runService();
  const headers = { origin: 'https://b.example', 'access-control-request-method': 'POST' };
  const { status, headers: allowed } = await send('/v1/batch', { method: 'OPTIONS', headers });
  expect([status, allowed.get('access-control-allow-origin')]).toEqual([204, '*']);
  for (const name of ['authorization', 'content-encoding', 'idempotency-key', 'x-called-at'])
    expect(allowed.get('access-control-allow-headers')).toContain(name);
});

it.each<[object, RegExp]>([
  [{ writeTokens: [] }, /`writeTokens` must be a list/],
  [{ writeTokens: undefined }, /`writeTokens` is missing/],
  [{ relayPath: '/a' }, /`origins` is missing/],
  [{ relayPath: 'a', origins: ['https://a.example'] }, /`relayPath` must be a path/],
  [{ writeTokens: [{ token: 'a b', projects: '*' }] }, /`writeTokens`/],
  [{ readToken: '' }, /`readToken`/],
  [{ readToken: 'fifteen-letters' }, /`readToken` must be .*16 characters/],
  [
    {
      readToken: 'token-of-16-signs',
      writeTokens: [{ token: 'token-of-16-signs', projects: '*' }],
    },
    /`readToken` must be another than the write tokens/,
  ],
  [{ origins: ['https://a.example/'] }, /`origins`/],
  [{ readTokens: [{ token: 'fifteen-letters', project: 'a' }] }, /`readTokens` must be .*16/],
  [{ readTokens: [{ token: READ, project: '' }] }, /`readTokens` must be/],
  [
    { readToken: READ, readTokens: [{ token: READ, project: 'a' }] },
    /`readTokens` must have a token of its own/,
  ],
  [
    { readTokens: ['a', 'b'].map((project) => ({ token: READ, project })) },
    /`readTokens` must have a token of its own/,
  ],
  [
    {
      readTokens: [{ token: READ, project: 'a' }],
      writeTokens: [{ token: READ, projects: ['a'] }],
    },
    /`readTokens` must have a token of its own/,
  ],
  [{ retentionDay: 3 }, /did you mean `retentionDays`/],
  [{ rateLimit: undefined }, /`clientAddress` is missing/],
])('says what is wrong with the options %j', (options, words) => {
  expect(() => runService(options)).toThrow(words);
});

it.each([
  ['a wrong token', '/v1/event', { authorization: 'Bearer wrong' }, 401],
  ['no token', '/v1/event', { authorization: null }, 401],
  ['a foreign origin', '/a/v1/event', { origin: 'https://evil.example' }, 403],
])('charges a client that is kept out for its tries, and nobody else: %s', async (...given) => {
  const [, path, headers, status] = given;
  const { post } = runService({
    ...{ rateLimit: { perSecond: 0.001, burst: 3 }, now: () => 1_000_000 },
    clientAddress: (request) => request.headers.get('x-client') ?? undefined,
    ...{ relayPath: '/a', origins: ['https://shop.example'] },
  });
  const from = async (client: string, more: Record<string, string | null> = {}, to = '/v1/event') =>
    (await post(to, event, { 'x-client': client, ...more })).status;
  const tries: number[] = [];
  for (let n = 0; n < 4; n++) tries.push(await from('192.0.2.1', headers, path));
  expect(tries).toEqual([status, status, status, 429]);
  expect(await from('192.0.2.1')).toBe(429);
  expect(await from('192.0.2.2')).toBe(200);
});
