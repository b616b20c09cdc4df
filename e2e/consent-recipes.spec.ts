import type { Page } from '@playwright/test';
import { inline } from './support/html.js';
import { recipeIn } from './support/recipe.js';
import { statusOf } from './support/status-of.js';
import { expect, test } from './support/test.js';
import { track } from './support/track.js';

const consentOf = async (page: Page) => (await statusOf(page)).consent;
const pending = { consent: 'pending' };

test('the banner asks once, and remembers the answer', async ({ page, service, site }) => {
  const body = recipeIn('consent.md', 'A banner', 'html');
  await page.goto(site.page('/', site.tagged(pending, { body })));
  const banner = page.locator('#consent-banner');
  await track(page, ['one']);
  await page.getByRole('button', { name: 'Yes' }).click();
  await expect(banner).toBeHidden();
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

test("follows Google's Consent Mode, whatever else is in the data layer", async ({
  page,
  guest,
  service,
  site,
}) => {
  guest.allowGlobals('dataLayer', 'gtag', 'pushAll');
  // A frame of another site: each look at its window throws.
  site.page('/frame', '<!doctype html><title>frame</title>');
  // As Google's own snippet and a consent platform have it.
  const head = inline(`
    window.dataLayer = window.dataLayer || [];
    function gtag() { dataLayer.push(arguments); }
    function pushAll() {
      for (const entry of [${ODD_ENTRIES}]) dataLayer.push(entry);
      gtag('event', 'x', null);
      gtag('consent', 'update', null);
      gtag();
    }
    gtag('consent', 'default', { ad_storage: 'denied', analytics_storage: 'denied' });`);
  const body = `<iframe src="${site.otherUrl}/frame"></iframe>`;
  await page.goto(site.page('/', site.tagged(pending, { head, body })));
  const push = (state?: object) =>
    page.evaluate((state) => {
      const { gtag, pushAll } = globalThis as unknown as Layer;
      if (state) gtag('consent', 'update', state);
      else pushAll(); // throws nothing into the page
    }, state);
  await push();
  await page.addScriptTag({ content: recipeIn('consent.md', "Google's Consent Mode", 'js') });
  await push();
  await track(page, ['one']);
  await push({ ad_storage: 'granted' });
  expect(await consentOf(page)).toBe('pending');
  await push({ analytics_storage: 'granted' });
  await service.holds({ events: ['one'] }, { pages: [page] });
  await push({ analytics_storage: 'denied' });
  await track(page, ['denied']);
  expect(await consentOf(page)).toBe('denied');
  await service.holds({ events: ['one'] }, { pages: [page] });
  const length = await page.evaluate(() => (globalThis as unknown as Layer).dataLayer.length);
  expect(length).toBe(1 + 2 * 22 + 3); // nothing is lost on its way to Google
});

test("follows IAB's Transparency and Consent Framework", async ({ page, guest, service, site }) => {
  guest.allowGlobals('__tcfapi', 'answer');
  // A platform: it calls its listeners with what it knows, and again at each answer.
  const head = inline(`{
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
  const recipe = recipeIn('consent.md', "IAB's Transparency and Consent Framework", 'js');
  await page.goto(site.page('/', site.tagged(pending, { head, body: inline(recipe) })));
  const answer = (consents: Record<number, boolean>) =>
    page.evaluate((consents) => {
      (globalThis as unknown as { answer: (consents: object) => void }).answer(consents);
    }, consents);
  await track(page, ['one']);
  expect(await consentOf(page)).toBe('pending');
  await answer({ 1: true, 8: true });
  await service.holds({ events: ['one'] }, { pages: [page] });
  await answer({ 1: true });
  await track(page, ['denied']);
  expect(await consentOf(page)).toBe('denied');
  await service.holds({ events: ['one'] }, { pages: [page] });
});
