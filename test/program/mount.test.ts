import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { mount } from '../../src/program/mount.js';
import { readSettings } from '../../src/program/settings.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { tempFolder } from '../support/temp-folder.js';

/** The statuses of what probes ask, at the program's port and at the port for those who operate it. */
const probe = async (environment: NodeJS.ProcessEnv, isAway: boolean) => {
  const folder = tempFolder();
  const store = createLibsqlStore({ path: join(folder, 'rows.db') });
  const mounted = await mount(readSettings({ DATA_FOLDER: folder, ...environment }), {
    log: { info: () => {}, error: () => {} },
    files: pathToFileURL(`${folder}/`),
    clientAddress: () => undefined,
    store,
  });
  onTestFinished(mounted.close);
  if (isAway) vi.spyOn(store, 'check').mockRejectedValue(new Error('db.internal is away'));
  const ask = (path: string) => new Request(`http://localhost${path}`);
  const ofRelay = await mounted.answer(ask('/a/ready'));
  const health = await mounted.answerAdmin(ask('/health'));
  const others = await Promise.all([
    mounted.answer(ask('/ready')),
    mounted.answerAdmin(ask('/ready')),
    mounted.answer(ask('/a/live')),
    mounted.answerAdmin(ask('/live')),
  ]);
  const { problem } = (await health.json()) as { problem?: string };
  return {
    statuses: [ofRelay, health, ...others].map(({ status }) => status),
    relay: await ofRelay.json(),
    problem,
  };
};

it.each<[what: string, environment: NodeJS.ProcessEnv, isAway: boolean, found: object]>([
  ['works', {}, false, { statuses: [200, 200, 200, 200, 200, 200], relay: { status: 'ok' } }],
  [
    'is away',
    {},
    true,
    {
      statuses: [503, 503, 503, 503, 200, 200],
      relay: { status: 'failing' }, // and no more: pages can read it
      problem: 'db.internal is away',
    },
  ],
])('says so where probes ask, when the database %s', async (_, environment, isAway, found) => {
  expect(await probe(environment, isAway)).toEqual(found);
});

it('has the same word for a client after a restart, if it passes rows on', async () => {
  const folder = tempFolder();
  for (const id of ['one', 'two']) {
    const settings = readSettings({
      ...{ DATA_FOLDER: folder, SITE_ORIGIN: 'http://localhost', PROJECTS: 'p', CHANNELS: 'c' },
      ...{ SERVICE_URL: 'http://127.0.0.1:9', SERVICE_TOKEN: 't' },
    });
    const mounted = await mount(settings, {
      log: { info: () => {}, error: () => {} },
      files: pathToFileURL(`${folder}/`),
      clientAddress: () => '192.0.2.1',
    });
    const body = { project: 'p', channel: 'c', event: 'e' };
    const response = await mounted.answer(
      new Request('http://localhost/a/v1/batch', {
        method: 'POST',
        headers: { origin: 'http://localhost', 'content-type': 'application/json' },
        body: JSON.stringify({ sent_at: '', records: [{ id, type: 'event', body }] }),
      }),
    );
    expect(response.status).toBe(200);
    await mounted.stop();
    await mounted.close();
  }
  const store = createLibsqlStore({ path: join(folder, 'rows.db') });
  onTestFinished(() => store.close());
  const words = (await store.progress.parked.recordsBehind(0, 9)).map(({ sender }) => sender);
  expect(words).toEqual([expect.stringMatching(/^[0-9a-f]{12}$/), words[0]]);
  // People who read rows do not see it.
  expect(JSON.stringify(await store.rows({}, { limit: 9 }))).not.toContain(words[0]);
});
