import { expect, it } from 'vitest';
import { readSettings } from '../../src/program/settings.js';
import { addressesOfOne, flood, ofOneNetwork, servedBeside } from '../support/strangers.js';
import { tempFolder } from '../support/temp-folder.js';
import { runProgram } from './support/run-program.js';

const ORIGIN = 'https://shop.example';

/** A program behind a proxy, until the test ends. */
const start = async (more: Readonly<Record<string, string>> = {}) => {
  const settings = readSettings({
    ...{ DATA_FOLDER: tempFolder(), HOST: '127.0.0.1', PORT: '0', SITE_ORIGIN: ORIGIN, ...more },
    ...{ PROJECTS: 'p', CHANNELS: 'c', TRUSTED_PROXIES: '1' },
  });
  const { url } = await runProgram(settings);
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
