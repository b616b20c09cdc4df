import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { mountService } from '../../src/program/mount-service.js';
import { openStore } from '../../src/program/store.js';
import { readServiceSettings } from '../../src/program/service-settings.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { tempFolder } from '../support/temp-folder.js';

/** The statuses of what probes ask, at the program's port and at the port for those who operate it. */
const probe = async (environment: NodeJS.ProcessEnv, isAway: boolean) => {
  const folder = tempFolder();
  const store = createLibsqlStore({ path: join(folder, 'rows.db') });
  const mounted = await mountService(readServiceSettings({ DATA_FOLDER: folder, ...environment }), {
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
  [
    'is away behind a queue, in which the relay puts records all the same',
    { STORE_URL: 'file:' },
    true,
    {
      statuses: [200, 503, 503, 503, 200, 200],
      relay: { status: 'ok' },
      problem: 'db.internal is away',
    },
  ],
])('says so where probes ask, when the database %s', async (_, environment, isAway, found) => {
  const queue = environment.STORE_URL && { STORE_URL: `file:${join(tempFolder(), 'queue')}` };
  expect(await probe({ ...environment, ...queue }, isAway)).toEqual(found);
});

it('has the same word for a client as another process over the same queue', async () => {
  const queued = `file:${tempFolder()}`;
  for (const id of ['one', 'two']) {
    const settings = readServiceSettings({ DATA_FOLDER: tempFolder(), STORE_URL: queued });
    const mounted = await mountService(settings, {
      log: { info: () => {}, error: () => {} },
      files: pathToFileURL(`${settings.folder}/`),
      clientAddress: () => '192.0.2.1',
    });
    onTestFinished(mounted.close);
    const body = { project: 'p', channel: 'c', event: 'e' };
    const response = await mounted.answer(
      new Request('http://localhost/a/v1/batch', {
        method: 'POST',
        headers: { origin: 'http://localhost', 'content-type': 'application/json' },
        body: JSON.stringify({ sent_at: '', records: [{ id, type: 'event', body }] }),
      }),
    );
    expect(response.status).toBe(200);
  }
  const { queue, close } = await openStore(queued);
  onTestFinished(close);
  const words = (await queue.take(2, 1_000)).map(({ record }) => record.client);
  expect(words).toEqual([expect.stringMatching(/^[0-9a-f]{12}$/), words[0]]);
});
