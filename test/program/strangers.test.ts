import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readSettings } from '../../src/program/settings.js';
import { serve } from '../../src/program/serve.js';
import { addressesOfOne, flood, ofOneNetwork, servedBeside } from '../support/strangers.js';
import { tempFolder } from '../support/temp-folder.js';

const ORIGIN = 'https://shop.example';

/** A program behind a proxy, until the test ends. */
const start = async (more: Readonly<Record<string, string>> = {}) => {
  const folder = tempFolder();
  const environment = {
    ...{ DATA_FOLDER: folder, HOST: '127.0.0.1', PORT: '0', SITE_ORIGIN: ORIGIN, ...more },
    ...{ PROJECTS: 'p', CHANNELS: 'c', TRUSTED_PROXIES: '1' },
  };
  const announce = vi.fn();
  const log = { info: () => {}, error: () => {} };
  const files = pathToFileURL(`${folder}/`);
  const served = serve(readSettings(environment), { log, announce, files, environment });
  onTestFinished(async () => {
    process.emit('SIGTERM');
    await served;
  });
  await vi.waitUntil(() => announce.mock.calls.length > 0);
  const url = readFileSync(join(folder, 'address'), 'utf8').trim();
  return { url: `${url}/a`, origin: ORIGIN, project: 'p', channel: 'c' };
};

// The night has more of them, with all limits as they are by default: `packed/attacks`.
it('lets others in while one network holds all the room for bodies', async () => {
  const served = await servedBeside(await start(), ofOneNetwork, { seconds: 3, slowMs: 2_000 });
  expect(served).toEqual({ early: 1, late: 1, slow: 1 });
});

it('lets others in while 200 addresses of one network send as much as they may', async () => {
  const site = await start({ RATE_LIMIT: '20/200', CEILING: '200/2000' });
  const attack = flood(addressesOfOne, 50, 4);
  const { early, late, slow } = await servedBeside(site, attack, { seconds: 4, slowMs: 1_000 });
  for (const share of [early, late, slow]) expect(share).toBeGreaterThanOrEqual(0.95);
});
