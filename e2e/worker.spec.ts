import { setupOf } from './support/setup-of.js';
import { expect, test } from './support/test.js';

test('does nothing in a worker, and does not throw', async ({ page, service, site }) => {
  site.file(
    '/worker.js',
    `import { analytics, createAnalytics } from '/dist/index.js';
    const globals = Object.keys(self).length;
    onmessage = async () => {
      analytics.init(${JSON.stringify(setupOf(service))});
      for (const one of [analytics, createAnalytics()]) {
        one.identify('user_1');
        one.event('from a worker');
        await one.flush();
      }
      postMessage({
        status: analytics.status(),
        databases: await indexedDB.databases(),
        added: Object.keys(self).length - globals,
      });
    };`,
  );
  await page.goto(site.page('/', '<!doctype html><title>page</title>'));
  const told = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' });
        worker.addEventListener('message', ({ data }) => resolve(data));
        worker.addEventListener('error', ({ message }) => reject(new Error(message)));
        worker.postMessage('go');
      }),
  );
  expect(told).toMatchObject({
    status: { storage: 'none', waiting: 0, delivered: 0 },
    databases: [],
    added: 0,
  });
  expect(await service.requests()).toEqual([]);
});
