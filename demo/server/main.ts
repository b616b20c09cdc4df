import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runService } from './run-service';

export { startService } from './start-service';
export type { RunningService, StartOptions } from './start-service';
export { runService };

/** Importing this file does nothing; running it starts the service. */
function isProgram(): boolean {
  const program = process.argv[1];
  if (program === undefined || !existsSync(program)) return false;
  return realpathSync(program) === fileURLToPath(import.meta.url);
}

if (isProgram()) await runService();
