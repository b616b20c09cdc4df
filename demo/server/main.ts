import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { closeOnSignal } from './listen.js';
import { failWith, readSettings, sayIfMoved } from './program.js';
import { startService } from './start-service.js';

export { startService };
export type { RunningService, StartOptions } from './start-service.js';

/** Runs the service as the program of this process, until it is told to end. */
export const runService = async (): Promise<void> => {
  try {
    const settings = readSettings(process.env);
    const service = await startService(settings);
    sayIfMoved(settings.port, service.port);
    console.log(`Service   ${service.url}`);
    console.log(`Rows      ${service.rows}`);
    console.log(`Token     ${settings.tokens.join(', ')}`);
    console.log(`Database  ${settings.database}`);
    if (settings.faults) console.log('Faults    on');
    closeOnSignal(service);
  } catch (error) {
    failWith(error, () => 'PORT');
  }
};

/** Importing this file does nothing; running it starts the service. */
const isProgram = (): boolean => {
  const program = process.argv[1];
  if (program === undefined || !existsSync(program)) return false;
  return realpathSync(program) === fileURLToPath(import.meta.url);
};

if (isProgram()) await runService();
