import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { copiesOf, curlOf } from '../../src/show/copies.js';
import { literal } from '../../src/show/literal.js';
import type { Row } from '../../src/server/store/port.js';

const ORIGIN = 'http://127.0.0.1:8787';
const TIME = '2026-11-25T14:02:11.400Z';

const event: Row = {
  ...{ seq: 7, id: 'id-7', type: 'event', project: 'shop', channel: 'sales', user_id: "o'neil" },
  ...{ event: 'Order Placed', called_at: TIME, received_at: TIME, arrivals: 1 },
  body: {
    ...{ project: 'shop', channel: 'sales', event: 'Order Placed', icon: '📚', notify: false },
    ...{ tags: { total: 42, 'two words': ["it's"] }, user_id: "o'neil", timestamp: TIME },
  },
};
const identify: Row = {
  ...{ seq: 8, id: 'id-8', type: 'identify', project: 'shop', user_id: 'user_42' },
  ...{ called_at: TIME, received_at: TIME, arrivals: 1 },
  body: { project: 'shop', user_id: 'user_42', properties: { plan: 'pro' } },
};

/** What a piece of JavaScript comes to, with `analytics` and `expect` of the test's own. */
const run = (code: string, names: Record<string, unknown>): unknown =>
  new Function(...Object.keys(names), code)(...Object.values(names)) as unknown;

describe('a row as curl', () => {
  it('is nothing but text to a shell, whatever a stranger has put into it', () => {
    const body = {
      project: '$(touch /tmp/x) `id` "$HOME" \\ \'; exit 1 #\n\u202e\u001b[2J',
      user_id: '!!',
      properties: {},
    };
    const curl = curlOf('identify', body, ORIGIN);
    // A function in place of curl prints its arguments, one a line.
    const script = `curl() { printf '%s\\n' "$@"; }\nTOKEN=secret\n${curl}`;
    const lines = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
    expect(lines.slice(0, 3)).toEqual([
      `${ORIGIN}/v1/identify`,
      '-H',
      'Authorization: Bearer secret',
    ]);
    expect(JSON.parse(lines.at(-1)!)).toEqual(body);
    expect(curl).not.toMatch(/[\u202e\u001b]/);
  });
});

describe('a row as a call', () => {
  it('calls `event` with what was given, and not with what was left out', () => {
    const calls: unknown[] = [];
    const analytics = { event: (...given: unknown[]) => calls.push(given) };
    run(copiesOf(event, ORIGIN).call, { analytics });
    expect(calls).toEqual([
      [
        'Order Placed',
        {
          ...{ channel: 'sales', icon: '📚', userId: "o'neil" },
          tags: { total: 42, 'two words': ["it's"] },
        },
      ],
    ]);
  });

  it('calls `identify`, with properties if there are any', () => {
    expect(copiesOf(identify, ORIGIN).call).toBe(`analytics.identify('user_42', { plan: 'pro' });`);
    const empty = { ...identify, body: { ...identify.body, properties: {} } };
    expect(copiesOf(empty, ORIGIN).call).toBe(`analytics.identify('user_42');`);
  });
});

describe('a row as an assertion', () => {
  it('asks for the newest row like it, and does not compare the time', async () => {
    const asked: string[] = [];
    const compared: unknown[] = [];
    const names = {
      process: { env: { READ_TOKEN: 'r' } },
      fetch: (url: string) => {
        asked.push(url);
        return Promise.resolve({ json: () => Promise.resolve({ rows: [event] }) });
      },
      expect: {
        poll: (ask: () => Promise<unknown>) => ({
          toMatchObject: async (wanted: object) => compared.push(await ask(), wanted),
        }),
      },
    };
    await run(`return (async () => {${copiesOf(event, ORIGIN).assertion}})()`, names);
    const url = new URL(asked[0]!);
    expect(url.origin + url.pathname).toBe(`${ORIGIN}/rows`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      ...{ project: 'shop', type: 'event', event: 'Order Placed', user: "o'neil" },
      ...{ newest: '1', limit: '1', format: 'json' },
    });
    const timeless = { ...event.body } as Record<string, unknown>;
    delete timeless['timestamp'];
    expect(compared).toEqual([event.body, timeless]);
  });
});

describe('a literal', () => {
  it.each([
    [{ a: 1, 'b-c': [true, null, 'x'] }],
    [{ nested: { deep: { 'line\nbreak': '\u2028\u202e\'"\\' } }, empty: {}, none: [] }],
    [JSON.parse('{ "__proto__": { "polluted": true }, "constructor": 1 }') as object],
    [Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`key${at}`, 'a long enough text']))],
  ])('reads back as the value: %j', (value) => {
    const back = run(`return ${literal(value)}`, {}) as object;
    expect(JSON.stringify(back)).toBe(JSON.stringify(value));
  });
});
