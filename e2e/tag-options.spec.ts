import type { Page } from '@playwright/test';
import type { Options } from '../src/client/types.js';
import { FOREIGN } from '../test/dev/foreign-attributes.js';
import { isBrowserNoise, isHelp } from './support/browser-noise.js';
import type { Guest } from './support/guest.js';
import type { Service } from './support/service.js';
import type { Site } from './support/site.js';
import { statusOf } from './support/status-of.js';
import type { TagStyle } from './support/tagged.js';
import { CHANNEL, expect, PROJECT, test } from './support/test.js';

/** So long that within a test nothing happens by it. */
const NEVER = 600_000;

/** Where the option in question is another one, no test waits for the default. */
const SOON = { flushInterval: 50 };

interface Parts {
  page: Page;
  guest: Guest;
  service: Service;
  site: Site;
  /** Opens a page whose tag has these options beside the required ones. */
  open: (options: Record<string, unknown>, style?: TagStyle) => Promise<void>;
}

const event = (page: Page, ...names: string[]) =>
  page.evaluate((names) => {
    for (const name of names) analytics.event(name, { tags: { text: 'x'.repeat(100) } });
  }, names);
/** Calls, and what the status is in the same task: nothing can have been sent yet. */
const statusAfter = (page: Page, ...names: string[]) =>
  page.evaluate((names) => {
    for (const name of names) analytics.event(name, { tags: { text: 'x'.repeat(100) } });
    return analytics.status();
  }, names);
const firstEvent = async ({ service }: Parts) => (await service.events())[0]!;

/** A tag without a set-up. */
const NOTHING = { baseUrl: undefined, token: undefined, project: undefined, channel: undefined };

/** What shows that the attribute does what the option does. Each option has one, or it does not compile. */
const PROOFS: Record<keyof Options, (parts: Parts) => Promise<void>> = {
  baseUrl: async (parts) => {
    const { page, service, open } = parts;
    await open({ baseUrl: `${service.url}/` });
    await event(page, 'here');
    await service.holds({ events: ['here'] }, { pages: [page] });
  },
  token: async ({ page, service, open }) => {
    await open({ token: 'another' });
    await event(page, 'refused');
    await expect.poll(async () => (await statusOf(page)).paused).toBe('setup');
    expect((await service.requests())[0]).toMatchObject({ status: 401, authorization_ok: false });
  },
  relay: async ({ page, site, open }) => {
    await open({ relay: '/a', baseUrl: undefined, token: undefined });
    await event(page, 'one');
    await expect.poll(() => site.requests).toContain('POST /a/v1/batch');
  },
  project: async (parts) => {
    await parts.open({ project: 'shop' });
    await event(parts.page, 'one');
    await parts.service.holds({ events: ['one'] });
    expect(await firstEvent(parts)).toMatchObject({ project: 'shop', channel: CHANNEL });
  },
  channel: async (parts) => {
    await parts.open({ channel: 'growth' });
    await event(parts.page, 'one');
    await parts.service.holds({ events: ['one'] });
    expect(await firstEvent(parts)).toMatchObject({ project: PROJECT, channel: 'growth' });
  },
  flushAt: async ({ page, service, open }) => {
    await open({ flushAt: 3, flushInterval: NEVER });
    await event(page, 'one', 'two');
    expect(await service.neverTwice([])).toEqual([]);
    await event(page, 'three');
    await service.holds({ events: ['one', 'two', 'three'] }, { pages: [page] });
  },
  flushInterval: async ({ page, service, open }) => {
    await open({ flushInterval: 10 });
    await event(page, 'one');
    await service.holds({ events: ['one'] }, { pages: [page], within: 900 });
  },
  concurrency: async ({ page, service, open }) => {
    await service.faults([{ hang: true, times: 2 }]);
    await open({ concurrency: 2 });
    await event(page, 'one', 'two', 'three');
    await expect
      .poll(() => statusOf(page))
      .toMatchObject({ inFlight: 2, waiting: 1, delivered: 0 });
    expect(await service.neverTwice(['one', 'two'])).toEqual([]);
  },
  timeout: async ({ page, service, open }) => {
    await service.faults([{ hang: true, times: 1 }]);
    await open({ timeout: 2_000 });
    await event(page, 'one');
    await service.holds({ events: ['one'] }, { pages: [page] });
    expect(await service.requests()).toHaveLength(2);
  },
  maxAge: async ({ page, service, open }) => {
    await open({ maxAge: 1 });
    await event(page, 'one');
    await expect.poll(async () => (await statusOf(page)).dropped).toEqual({ expired: 1 });
    await service.holds({ events: [] }, { pages: [page] });
  },
  maxRecords: async ({ page, open }) => {
    await open({ maxRecords: 2, flushInterval: NEVER });
    expect(await statusAfter(page, 'one', 'two', 'three')).toMatchObject({
      waiting: 2,
      dropped: { 'outbox-full': 1 },
    });
  },
  maxBytes: async ({ page, open }) => {
    await open({ maxBytes: 600, flushInterval: NEVER });
    expect(await statusAfter(page, 'one', 'two', 'three')).toMatchObject({
      waiting: 2,
      dropped: { 'outbox-full': 1 },
    });
  },
  maxRecordBytes: async ({ page, open }) => {
    await open({ maxRecordBytes: 150 });
    expect(await statusAfter(page, 'one')).toMatchObject({ dropped: { 'too-large': 1 } });
  },
  idempotencyKey: async (parts) => {
    await parts.open({ idempotencyKey: '' });
    await event(parts.page, 'one');
    await parts.service.holds({ events: ['one'] }, { pages: [parts.page] });
    expect((await firstEvent(parts)).idempotency_key).toMatch(/^[\w-]{21}$/);
  },
  consent: async ({ page, service, open }) => {
    await open({ consent: 'pending' });
    expect(await statusAfter(page, 'one')).toMatchObject({
      consent: 'pending',
      storage: 'none',
      waiting: 1,
    });
    await service.holds({ events: [] });
  },
  respectGpc: async ({ page, service, open }) => {
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'globalPrivacyControl', { value: true });
    });
    await open({ respectGpc: '' });
    expect(await statusAfter(page, 'one')).toMatchObject({ consent: 'denied', waiting: 0 });
    await service.holds({ events: [] });
  },
  context: async (parts) => {
    parts.guest.allowGlobals('pageTags');
    const code = `window.pageTags = () => ({ title: document.title });`;
    await parts.open({ context: 'pageTags' }, { head: `<script>${code}</script>` });
    await event(parts.page, 'one');
    await parts.service.holds({ events: ['one'] }, { pages: [parts.page] });
    expect((await firstEvent(parts)).tags).toMatchObject({ title: 'A page' });
  },
  beforeSend: async ({ page, guest, service, open }) => {
    guest.allowGlobals('onlyShort');
    const code = `const onlyShortNames = 5;
      window.onlyShort = (draft) => (draft.body.event.length > onlyShortNames ? null : draft);`;
    await open({ beforeSend: 'onlyShort' }, { head: `<script>{${code}}</script>` });
    await event(page, 'short', 'too long');
    await service.holds({ events: ['short'] }, { pages: [page] });
  },
  onDrop: async ({ page, guest, open }) => {
    guest.allowGlobals('heard');
    const code = `window.heard = ({ reason }) => { document.title = reason; };`;
    await open({ onDrop: 'heard', maxRecordBytes: 150 }, { head: `<script>${code}</script>` });
    await event(page, 'one');
    await expect(page).toHaveTitle('too-large');
  },
  onError: async ({ page, guest, open }) => {
    guest.allowGlobals('heard');
    const code = `window.heard = ({ kind, status }) => { document.title = kind + ' ' + status; };`;
    await open({ onError: 'heard', token: 'wrong' }, { head: `<script>${code}</script>` });
    await event(page, 'one');
    await expect(page).toHaveTitle('setup 401');
  },
  disabled: async ({ page, service, open }) => {
    await open({ disabled: '' });
    expect(await statusAfter(page, 'one')).toMatchObject({ waiting: 0, storage: 'none' });
    await service.holds({ events: [] });
  },
  debug: async ({ page, guest, service, open }) => {
    guest.allow(/^console\.(log|startGroupCollapsed|endGroup): /);
    const lines = consoleOf(page);
    await open({ debug: 'true' });
    await event(page, 'one');
    await service.holds({ events: ['one'] }, { pages: [page] });
    expect(lines.join('\n')).toMatch(/: analytics-outbox: event "one": record/);
  },
  fetch: async ({ page, guest, open }) => {
    guest.allowGlobals('ownFetch');
    const code = `window.ownFetch = async (url, { body }) => {
      document.title = JSON.parse(body).event;
      return new Response('{"success":true}');
    };`;
    await open({ fetch: 'ownFetch' }, { head: `<script>${code}</script>` });
    await event(page, 'by hand');
    await expect(page).toHaveTitle('by hand');
    await expect.poll(async () => (await statusOf(page)).delivered).toBe(1);
  },
  now: async (parts) => {
    parts.guest.allowGlobals('ownClock');
    const code = `window.ownClock = () => Date.UTC(2030, 0, 1) + performance.now();`;
    await parts.open({ now: 'ownClock' }, { head: `<script>${code}</script>`, stub: false });
    await event(parts.page, 'one');
    await parts.service.holds({ events: ['one'] }, { pages: [parts.page] });
    expect((await firstEvent(parts)).timestamp).toMatch(/^2030-01-01T00:00/);
  },
};

/** Names of all that the page's origin stores. */
const stored = (page: Page): Promise<(string | undefined)[]> =>
  page.evaluate(async () => [
    ...Object.keys(localStorage),
    ...(await indexedDB.databases()).map(({ name }) => name),
  ]);

const consoleOf = (page: Page): string[] => {
  const lines: string[] = [];
  page.on('console', (message) => {
    if (!isBrowserNoise(message) && !isHelp(message))
      lines.push(`${message.type()}: ${message.text()}`);
  });
  return lines;
};

test.describe('an attribute of the tag', () => {
  for (const [name, prove] of Object.entries(PROOFS)) {
    test(`sets \`${name}\``, async ({ page, guest, service, site }) => {
      const open = async (options: Record<string, unknown>, style: TagStyle = {}) => {
        site.page('/', site.tagged({ ...SOON, ...options }, { attributes: '', ...style }));
        await page.goto(site.url + '/');
      };
      await prove({ page, guest, service, site, open });
    });
  }

  test('switches a flag off by `false`', async ({ page, service, site }) => {
    site.page(
      '/',
      site.tagged({ ...SOON, disabled: 'false', debug: 'false', idempotencyKey: 'false' }),
    );
    await page.goto(site.url + '/');
    await page.evaluate(() => void analytics.event('one'));
    await service.holds({ events: ['one'] }, { pages: [page] });
    expect((await service.events())[0]!.idempotency_key).toBeNull();
  });

  for (const [value, texts] of [
    [true, ['', 'true']],
    // Any other text is told to the developer, and counts as not given.
    [false, ['false', 'YES', '0', 'no']],
  ] as const) {
    test(`switches a flag ${value ? 'on' : 'off'} by ${texts.map((text) => `"${text}"`).join(', ')}`, async ({
      page,
      service,
      site,
    }) => {
      for (const text of texts) {
        const options = { ...SOON, disabled: text, idempotencyKey: text };
        await page.goto(site.page(`/${text}`, site.tagged(options, { attributes: '' })));
        expect(await statusAfter(page, text)).toMatchObject({ waiting: value ? 0 : 1 });
      }
      await service.holds({ events: value ? [] : texts }, { pages: [page] });
      for (const { idempotency_key: key } of await service.events()) expect(key).toBeNull();
    });
  }

  test('of another tool is left alone', async ({ page, service, site }) => {
    const foreign = FOREIGN.map((name) => `data-${name}="x"`).join(' ');
    site.page('/', site.tagged({}, { attributes: `async ${foreign}` }));
    await page.goto(site.url + '/');
    await page.evaluate(() => void analytics.event('one'));
    await service.holds({ events: ['one'] }, { pages: [page] });
  });

  for (const [time, timeout] of [
    ['more time than a parcel is held for', 120_000],
    ['more time than a timer can count', 3_000_000_000],
  ] as const) {
    test(`may give a request ${time}`, async ({ page, service, site }) => {
      site.page('/', site.tagged({ timeout }));
      await page.goto(site.url + '/');
      await page.evaluate(() => void analytics.event('one'));
      await service.holds({ events: ['one'] }, { pages: [page] });
    });
  }
});

test.describe('a wrong set-up in the tag', () => {
  const CASES: Record<string, { options: Record<string, unknown>; words: RegExp }> = {
    'no base URL': {
      options: { baseUrl: undefined },
      words: /`baseUrl` \(data-base-url\) is missing/,
    },
    'no token': { options: { token: undefined }, words: /`token` \(data-token\) is missing/ },
    'an empty token': {
      options: { token: '' },
      words: /`token` .+ a string of ASCII characters without spaces, or a function, not ""$/,
    },
    'a token with a dash that no header can carry': {
      options: { token: 'tok–en' },
      words: /`token` \(data-token\) must be a string of ASCII .+, not "…–…"$/,
    },
    'an address with a query': {
      options: { baseUrl: 'https://in.example/?v=1' },
      words: /`baseUrl` .+ URL without user, query or spaces, not "https:\/\/in.example\/\?v=1"$/,
    },
    'no project': {
      options: { project: undefined },
      words: /`project` \(data-project\) is missing/,
    },
    'an empty channel': { options: { channel: ' ' }, words: /`channel` .+ a non-empty string/ },
    'a relative address': {
      options: { baseUrl: '/api' },
      words: /`baseUrl` .+ absolute http\(s\) URL .+, not "\/api"/,
    },
    'a word for a number': {
      options: { flushAt: 'many' },
      words: /`flushAt` \(data-flush-at\) must be a number, not "many"$/,
    },
    'a number with a unit': {
      options: { timeout: '20s' },
      words: /`timeout` \(data-timeout\) must be a number, not "20s"$/,
    },
    'an unknown consent': {
      options: { consent: 'maybe' },
      words: /`consent` .+ granted, pending or denied, not "maybe"/,
    },
    'a callback that is not there': {
      options: { onDrop: 'missing' },
      words: /`onDrop` \(data-on-drop\) .+ name of a global/,
    },
  };
  for (const [title, { options, words }] of Object.entries(CASES)) {
    test(`is told once: ${title}`, async ({ page, guest, service, site }) => {
      guest.allow(/console\.error: analytics/);
      const lines = consoleOf(page);
      site.page('/', site.tagged(options, { attributes: '' }));
      await page.goto(site.url + '/');
      await page.evaluate(() => {
        analytics.identify('user_1');
        void analytics.event('one');
        void analytics.flush();
      });
      // In words by the developers' file, on a local host.
      await expect.poll(() => lines).toEqual([expect.stringMatching(words)]);
      expect(lines[0]).toMatch(/^error: analytics/);
      await service.holds({ events: [] });
      expect(await service.requests()).toEqual([]);
      expect(await stored(page)).toEqual([]);
    });
  }

  test('that only looks like one is told to a developer, and sends', async ({
    page,
    service,
    site,
  }) => {
    const lines = consoleOf(page);
    await page.goto(site.page('/', site.tagged({ concent: 'pending', gobal: 'outbox' })));
    await page.evaluate(() => void analytics.event('one'));
    await expect
      .poll(() => lines.toSorted())
      .toEqual([
        'warning: analytics-outbox: the tag has no attribute data-concent: did you mean data-consent?',
        'warning: analytics-outbox: the tag has no attribute data-gobal: did you mean data-global?',
      ]);
    await service.holds({ events: ['one'] }, { pages: [page] });
  });

  test('is told all at once', async ({ page, guest, service, site }) => {
    guest.allow(/console\.error: analytics/);
    const lines = consoleOf(page);
    const options = { token: 'tok–en', channel: undefined };
    site.page('/', site.tagged(options, { attributes: '' }));
    await page.goto(site.url + '/');
    await page.evaluate(() => void analytics.event('one'));
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]!.split('\n').sort()).toEqual([
      expect.stringMatching(/^error: analytics-outbox: option `token` .+ must be /),
      expect.stringMatching(/^option `channel` .+ is missing/),
    ]);
    await service.holds({ events: [] });
    expect(await stored(page)).toEqual([]);
  });

  test('is told once: `init` on the stub', async ({ page, guest, site }) => {
    guest.allow(/console\.error: analytics/);
    const lines = consoleOf(page);
    const body = `<script>analytics.init({ baseUrl: 'https://a.example', token: 't', project: 'p' })</script>`;
    site.page('/', site.tagged(NOTHING, { attributes: 'defer', body }));
    await page.goto(site.url + '/');
    await expect
      .poll(() => lines)
      .toEqual([expect.stringMatching(/^error: analytics.+`channel` .+ is missing/)]);
  });

  test('can be put right by `init`, with nothing lost', async ({ page, guest, service, site }) => {
    guest.allow(/console\.error: analytics/);
    site.page('/', site.tagged({ project: undefined }));
    await page.goto(site.url + '/');
    await page.evaluate(
      ({ url, token }) => {
        void analytics.event('before');
        analytics.init({ baseUrl: url, token, project: 'p', channel: 'c' });
      },
      { url: service.url, token: service.token },
    );
    await service.holds({ events: ['before'] }, { pages: [page] });
  });

  test('without any attribute waits for `init` in silence', async ({ page, site }) => {
    site.page('/', site.tagged(NOTHING));
    await page.goto(site.url + '/');
    await page.evaluate(() => void analytics.event('one'));
    expect(await page.evaluate(() => analytics.status().waiting)).toBe(1);
  });
});

test('throws from `init` and names every wrong option', async ({ page, guest, site }) => {
  guest.allow(/console\.error: analytics/); // the developers' file says more
  site.page('/', site.tagged(NOTHING, { attributes: '', stub: false }));
  await page.goto(site.url + '/');
  const thrown = await page.evaluate(() => {
    const good = { baseUrl: 'https://in.example', token: 't', project: 'p', channel: 'c' };
    const wrong: Record<string, unknown> = {
      'no options': undefined,
      'null for options': null,
      'an empty object': {},
      'no channel': { ...good, channel: undefined },
      'a misspelt option': { ...good, flushat: 3 },
      'an unknown option': { ...good, endpoint: '/a' },
      'several at once': { ...good, flushat: 3, timeout: '5', projct: 'p', project: undefined },
      'an address without scheme': { ...good, baseUrl: 'in.example/api' },
      'an ftp address': { ...good, baseUrl: 'ftp://in.example' },
      'a URL that is none': { ...good, baseUrl: 'https://' },
      'an address with a user': { ...good, baseUrl: 'https://me@in.example' },
      'a number as token': { ...good, token: 5 },
      'a token of two lines': { ...good, token: 'line\nbreak' },
      'a blank project': { ...good, project: '  ' },
      'a null project': { ...good, project: null },
      'a negative number': { ...good, concurrency: -1 },
      zero: { ...good, flushAt: 0 },
      'not a number': { ...good, timeout: NaN },
      'endless time': { ...good, timeout: Infinity },
      'a number as text': { ...good, maxAge: '5' },
      'a flag as text': { ...good, debug: 'yes' },
      'no such consent': { ...good, consent: 'ungranted' },
      'no function': { ...good, beforeSend: {} },
      'no fetch': { ...good, fetch: 'fetch' },
    };
    return Object.entries(wrong).map(([title, options]) => {
      try {
        analytics.init(options as never);
        return `${title}: nothing`;
      } catch (error) {
        return `${title}: ${error instanceof TypeError ? error.message : String(error)}`;
      }
    });
  });
  const wrong = 'analytics-outbox: wrong or missing:';
  expect(thrown).toEqual([
    `no options: ${wrong} project, channel, baseUrl, token`,
    `null for options: ${wrong} project, channel, baseUrl, token`,
    `an empty object: ${wrong} project, channel, baseUrl, token`,
    `no channel: ${wrong} channel`,
    `a misspelt option: ${wrong} flushat`,
    `an unknown option: ${wrong} endpoint`,
    `several at once: ${wrong} flushat, timeout, projct, project`,
    `an address without scheme: ${wrong} baseUrl`,
    `an ftp address: ${wrong} baseUrl`,
    `a URL that is none: ${wrong} baseUrl`,
    `an address with a user: ${wrong} baseUrl`,
    `a number as token: ${wrong} token`,
    `a token of two lines: ${wrong} token`,
    `a blank project: ${wrong} project`,
    `a null project: ${wrong} project`,
    'a negative number: nothing', // the usual value holds, and the developer is told
    'zero: nothing',
    `not a number: ${wrong} timeout`,
    'endless time: nothing',
    `a number as text: ${wrong} maxAge`,
    `a flag as text: ${wrong} debug`,
    `no such consent: ${wrong} consent`,
    `no function: ${wrong} beforeSend`,
    `no fetch: ${wrong} fetch`,
  ]);
});
