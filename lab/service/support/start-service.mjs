import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../relay/support/start-program.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

export const ORIGIN = 'https://shop.example';

/** Starts a process over a database: the program of the service, or a store with nothing before it. */
export async function startService(databaseUrl, { isProgram = true } = {}) {
  if (!isProgram) return startProgram(path('store-process.mjs'), { DATABASE_URL: databaseUrl });
  const folder = mkdtempSync(join(tmpdir(), 'service-'));
  const service = await startProgram(path('../../../dist/service-program.js'), {
    ...{ DATABASE_URL: databaseUrl, DATA_FOLDER: folder, HOST: '127.0.0.1', PORT: '0' },
    ...{ SITE_ORIGIN: ORIGIN, PROJECTS: 'shop', CHANNELS: 'web' },
    ...{ WRITE_TOKENS: 'shop=write', READ_TOKEN: 'read', RATE_LIMIT: 'off', CEILING: 'off' },
  });
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  return {
    ...service,
    url: new URL(service.url).origin, // the first one that it prints is that of the rows
    kill: () => service.kill().finally(removeFolder),
    stop: () => service.stop().finally(removeFolder),
  };
}
