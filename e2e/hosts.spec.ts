import type { Page } from '@playwright/test';
import { names } from './support/names.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const inline = (script: () => void): string => `<script>(${script.toString()})()</script>`;

test.describe('on a page that has frozen what the language brings', () => {
  const freeze = inline(() => {
    const builtIns = [Object, Array, Function, String, Number, Promise, Date, RegExp, Map, Set];
    for (const builtIn of [...builtIns, WeakMap, WeakSet, Symbol, Error, TypeError, Uint8Array]) {
      Object.freeze(builtIn);
      Object.freeze(builtIn.prototype);
    }
    Object.freeze(JSON);
    Object.freeze(Math);
    Object.freeze(Reflect);
  });

  for (const stub of [true, false]) {
    test(`delivers each call, ${stub ? 'with' : 'without'} the stub`, async ({
      page,
      service,
      site,
    }) => {
      const early = `<script>{
        const { identify, event } = analytics;
        identify('user_1');
        event('early', { tags: { n: 1 } });
        addEventListener('load', () => event('by a reference taken before'));
      }</script>`;
      const style = stub ? { body: early } : { stub, attributes: '', body: early };
      await page.goto(site.page('/', site.tagged({}, { head: freeze, ...style })));
      await page.waitForFunction(() => 'status' in analytics);
      await track(page, ['late']);
      await service.holds(
        { events: ['early', 'by a reference taken before', 'late'], identifies: ['user_1'] },
        { pages: [page] },
      );
    });
  }
});

test.describe('where the page has no randomness to give, because `crypto`', () => {
  const breakages: Record<string, () => void> = {
    'is missing': () => Object.defineProperty(window, 'crypto', { value: undefined }),
    'throws when it is read': () =>
      Object.defineProperty(window, 'crypto', {
        get: () => {
          throw new Error('no crypto here');
        },
      }),
    throws: () => {
      crypto.getRandomValues = () => {
        throw new Error('no randomness here');
      };
    },
    'returns nothing': () => {
      crypto.getRandomValues = () => undefined as never;
    },
  };

  for (const [how, breakCrypto] of Object.entries(breakages)) {
    test(`${how}, delivers each call once, with an id of its own`, async ({
      page,
      service,
      site,
    }) => {
      await page.goto(
        site.page('/', site.tagged({ idempotencyKey: true }, { head: inline(breakCrypto) })),
      );
      await track(page, names(40));
      await service.holds({ events: names(40) }, { pages: [page] });
      const ids = (await service.events()).map(({ idempotency_key }) => idempotency_key);
      expect(new Set(ids).size).toBe(40);
      for (const id of ids) expect(id).toMatch(/^[\w-]{21}$/);
    });
  }
});

test.describe('after `document.open()`, which removes every listener of document and window,', () => {
  /** What old scripts do to a page that has loaded. */
  const writeAnew = (page: Page) =>
    page.evaluate(() => {
      document.open();
      document.write('<!doctype html><title>Another</title><h1>Another</h1>');
      document.close();
    });

  test(
    'hands off what was called in the task that leaves',
    { tag: '@smoke' },
    async ({ page, service, site }) => {
      await page.goto(site.page('/', site.tagged()));
      await page.waitForFunction(() => 'status' in analytics);
      await track(page, ['before']);
      await writeAnew(page);
      const next = site.page('/next', '<!doctype html><title>Next</title>');
      await page.evaluate(
        ([events, next]) => {
          for (const event of events) analytics.event(event);
          location.href = next;
        },
        [names(20), next] as const,
      );
      await page.waitForURL(next);
      await service.holds({ events: ['before', ...names(20)] });
      expect(await service.requests()).toHaveLength(21);
    },
  );

  test('hears of a denial of consent elsewhere', async ({ page, context, service, site }) => {
    const address = site.page('/', site.tagged());
    await page.goto(address);
    await page.waitForFunction(() => 'status' in analytics);
    await writeAnew(page);
    const other = await context.newPage();
    await other.goto(address);
    await other.waitForFunction(() => 'status' in analytics);
    await other.evaluate(() => analytics.setConsent('denied'));
    await expect.poll(async () => (await statusOf(page)).consent).toBe('denied');
    await track(page, names(3));
    await service.holds({ events: [] }, { pages: [page] });
  });
});
