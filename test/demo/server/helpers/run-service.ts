import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startService } from '../../../../demo/server/start-service';
import { createClient, TOKEN } from './service-client';
import { tempFolder } from '../../../support/temp-folder';

/** Runs the service on its own database until the test ends. */
export async function runService({ faults = false, ignoreKeys = false } = {}) {
  const database = join(tempFolder(), 'service.db');
  const service = await startService({ port: 0, database, tokens: [TOKEN], faults, ignoreKeys });
  onTestFinished(service.close);
  return { ...createClient(service.url), database, close: service.close, port: service.port };
}
