import { expect, test } from './support/test.js';

/** What browsers have got since the oldest ones in the README: Chrome 93, Firefox 92, Safari 15.4. */
const NEWER: readonly (readonly [owner: string, ...names: string[]])[] = [
  ['Array', 'fromAsync'],
  ['Array.prototype', 'findLast', 'findLastIndex', 'toReversed', 'toSorted', 'toSpliced', 'with'],
  ['String.prototype', 'isWellFormed', 'toWellFormed'],
  ['Object', 'groupBy'],
  ['Map', 'groupBy'],
  ['Map.prototype', 'getOrInsert', 'getOrInsertComputed'],
  ['Set.prototype', 'difference', 'intersection', 'union', 'isSubsetOf', 'isSupersetOf'],
  ['Promise', 'try', 'withResolvers'],
  ['RegExp', 'escape'],
  ['AbortSignal', 'any', 'timeout'],
  ['URL', 'canParse', 'parse'],
  ['Crypto.prototype', 'randomUUID'],
  ['Document', 'parseHTMLUnsafe'],
  ['globalThis', 'structuredClone', 'Iterator', 'scheduler', 'fetchLater', 'reportError'],
];

test('delivers without what has come since the oldest supported browsers @relay', async ({
  page,
  service,
  site,
}) => {
  await page.addInitScript((newer) => {
    for (const [owner, ...names] of newer) {
      const object = owner
        .split('.')
        .reduce<object>((at, key) => at[key as keyof object], globalThis);
      for (const name of names) Reflect.deleteProperty(object, name);
    }
  }, NEWER);
  await page.goto(site.page('/', site.tagged()));
  await page.evaluate(() => {
    analytics.identify('user', { plan: 'pro' });
    analytics.event('Seen', { tags: { deep: [1, { two: 2 }] } });
    return analytics.flush();
  });
  await service.holds({ events: ['Seen'], identifies: ['user'] }, { pages: [page] });
  expect(await page.evaluate(() => 'structuredClone' in globalThis)).toBe(false);
  expect(await page.evaluate(() => analytics.status().storage)).toBe('indexeddb');
});

test('keeps the page running where the script does not come, in a browser without Object.hasOwn', async ({
  page,
  site,
}) => {
  await page.addInitScript(() => Reflect.deleteProperty(Object, 'hasOwn'));
  const body = `<button>Buy</button><script>
document.querySelector('button').addEventListener('click', () => {
  analytics.event('Bought');
  document.title = 'bought, ' + analytics.status().waiting + ' waiting';
});
</script>`;
  await page.goto(site.page('/', site.tagged({}, { src: '/missing/outbox.js', body })));
  await page.getByRole('button').click();
  await expect(page).toHaveTitle('bought, 1 waiting');
});
