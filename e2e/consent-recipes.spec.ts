import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const text = readFileSync(new URL('../docs/consent.md', import.meta.url), 'utf8');

/** The code of a recipe, as the page on consent shows it. */
const recipe = (heading: string, language: string): string => {
  const section = text.split(`\n## ${heading}\n`)[1]!;
  return new RegExp('```' + language + '\\n([^]*?)```').exec(section)![1]!;
};

const script = (code: string): string => `<script>${code}</script>`;
const consentOf = async (page: Page) => (await statusOf(page)).consent;
const pending = { consent: 'pending' };

test('the banner asks once, and remembers the answer', async ({ page, service, site }) => {
  const body = recipe('A banner', 'html');
  await page.goto(site.page('/', site.tagged(pending, { body })));
  const banner = page.locator('#consent-banner');
  await track(page, ['one']);
  await page.getByRole('button', { name: 'Yes' }).click();
  await expect(banner).toBeHidden();
  await service.holds({ events: ['one'] }, { pages: [page] });
  await page.reload();
  await expect(banner).toBeHidden();
  await track(page, ['two']);
  await service.holds({ events: ['one', 'two'] }, { pages: [page] });

  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await page.getByRole('button', { name: 'No' }).click();
  await page.reload();
  await expect(banner).toBeHidden();
  await track(page, ['denied']);
  expect(await consentOf(page)).toBe('denied');
  await service.holds({ events: ['one', 'two'] }, { pages: [page] });
});

test("follows Google's Consent Mode", async ({ page, guest, service, site }) => {
  guest.allowGlobals('dataLayer', 'gtag');
  // As Google's own snippet and a consent platform have it.
  const head = script(`
    window.dataLayer = window.dataLayer || [];
    function gtag() { dataLayer.push(arguments); }
    gtag('consent', 'default', { ad_storage: 'denied', analytics_storage: 'denied' });
    dataLayer.push({ event: 'gtm.js' });`);
  const body = script(recipe("Google's Consent Mode", 'js'));
  await page.goto(site.page('/', site.tagged(pending, { head, body })));
  const update = (state: object) =>
    page.evaluate((state) => {
      const { gtag } = globalThis as unknown as { gtag: (...args: unknown[]) => void };
      gtag('js', new Date());
      gtag('consent', 'update', state);
    }, state);
  await track(page, ['one']);
  await update({ ad_storage: 'granted' });
  expect(await consentOf(page)).toBe('pending');
  await update({ analytics_storage: 'granted' });
  await service.holds({ events: ['one'] }, { pages: [page] });
  await update({ analytics_storage: 'denied' });
  await track(page, ['denied']);
  expect(await consentOf(page)).toBe('denied');
  await service.holds({ events: ['one'] }, { pages: [page] });
  const length = await page.evaluate(
    () => (globalThis as unknown as { dataLayer: unknown[] }).dataLayer.length,
  );
  expect(length).toBe(8); // nothing is lost on its way to Google
});

interface Layer {
  dataLayer: unknown[];
  gtag: (...args: unknown[]) => void;
  pushAll: () => void;
}

/** What pages push onto a data layer, by mistake or not. */
const ODD_ENTRIES = `
    undefined, null, 5, 'consent', true, Symbol('consent'), () => 'consent', [], ['consent'], ['consent', 'update'],
    ['consent', 'update', null], ['consent', 'update', 'granted'], ['event', 'x', null], Object.create(null),
    { length: 4e9 }, { 0: 'consent', 1: 'update' }, { get 0() { throw new Error('not for you'); } },
    new Proxy({}, { get() { throw new Error('not for you'); } }), document.querySelector('iframe').contentWindow`;

test("follows Google's Consent Mode whatever else is in the data layer", async ({
  page,
  guest,
  site,
}) => {
  guest.allowGlobals('dataLayer', 'gtag', 'pushAll');
  // A frame of another site: each look at its window throws.
  site.page('/frame', '<!doctype html><title>frame</title>');
  const head = script(`
    window.dataLayer = window.dataLayer || [];
    function gtag() { dataLayer.push(arguments); }
    function pushAll() {
      for (const entry of [${ODD_ENTRIES}]) dataLayer.push(entry);
      gtag('event', 'x', null);
      gtag('consent', 'update', null);
      gtag();
    }`);
  const body = `<iframe src="${site.otherUrl}/frame"></iframe>`;
  await page.goto(site.page('/', site.tagged(pending, { head, body })));
  await page.evaluate(() => {
    const { gtag, pushAll } = globalThis as unknown as Layer;
    pushAll();
    gtag('consent', 'default', { analytics_storage: 'granted' });
    gtag('consent', 'update', { analytics_storage: 'denied' });
  });
  await page.addScriptTag({ content: recipe("Google's Consent Mode", 'js') });
  await expect.poll(() => consentOf(page)).toBe('denied');
  const length = await page.evaluate(() => {
    const { gtag, pushAll, dataLayer } = globalThis as unknown as Layer;
    const before = dataLayer.length;
    pushAll(); // throws nothing into the page
    gtag('consent', 'update', { analytics_storage: 'granted' });
    return dataLayer.length - before;
  });
  expect(length).toBe(23); // nothing is lost on its way to Google
  expect(await consentOf(page)).toBe('granted');
});

test("follows IAB's Transparency and Consent Framework", async ({ page, guest, service, site }) => {
  guest.allowGlobals('__tcfapi', 'answer');
  // A platform: it calls its listeners with what it knows, and again at each answer.
  const head = script(`{
    const listeners = [];
    const tell = (listener, eventStatus, consents) =>
      listener({ eventStatus, gdprApplies: true, purpose: { consents } }, true);
    window.__tcfapi = (command, version, listener) => {
      if (command !== 'addEventListener' || version !== 2) return listener(null, false);
      listeners.push(listener);
      tell(listener, 'cmpuishown', {});
    };
    window.answer = (consents) => {
      for (const listener of listeners) tell(listener, 'useractioncomplete', consents);
    };
  }`);
  const body = script(recipe("IAB's Transparency and Consent Framework", 'js'));
  await page.goto(site.page('/', site.tagged(pending, { head, body })));
  const answer = (consents: Record<string, boolean>) =>
    page.evaluate(
      (consents) =>
        (globalThis as unknown as { answer: (consents: object) => void }).answer(consents),
      consents,
    );
  await track(page, ['one']);
  expect(await consentOf(page)).toBe('pending');
  await answer({ 1: true, 8: true });
  await service.holds({ events: ['one'] }, { pages: [page] });
  await answer({ 1: true });
  await track(page, ['denied']);
  expect(await consentOf(page)).toBe('denied');
  await service.holds({ events: ['one'] }, { pages: [page] });
});
