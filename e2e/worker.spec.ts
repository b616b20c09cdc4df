import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';
import { expect, test } from './support/test.js';

const DIST_INDEX = fileURLToPath(new URL('../dist/index.js', import.meta.url));

/** A worker's script around the built package, in one file. */
const workerScript = async (code: string): Promise<string> => {
  const entry = 'virtual:worker';
  const { output } = (await build({
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'worker',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) =>
          id === entry ? `import * as outbox from ${JSON.stringify(DIST_INDEX)};\n${code}` : null,
      },
    ],
    build: { write: false, rollupOptions: { input: entry, output: { format: 'iife' } } },
  })) as Rolldown.RolldownOutput;
  return output[0].code;
};

test('does nothing in a worker, and does not throw', async ({ page, service, site }) => {
  const setup = { baseUrl: service.url, token: service.token, project: 'p', channel: 'c' };
  const script = await workerScript(`
    const { analytics, createAnalytics } = outbox;
    const globals = Object.keys(self).length;
    onmessage = async () => {
      analytics.init(${JSON.stringify(setup)});
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
    };
  `);
  site.file('/worker.js', script);
  await page.goto(site.page('/', '<!doctype html><title>page</title>'));
  const told = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js');
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
