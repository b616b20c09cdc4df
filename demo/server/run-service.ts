import { closeOnSignal } from './close-on-signal';
import { isPortTaken } from './listen';
import { readSettings } from './read-settings';
import { startService, type RunningService, type StartOptions } from './start-service';

/** Runs the service as the program of this process, until it is told to end. */
export async function runService(): Promise<void> {
  try {
    const settings = readSettings(process.env);
    const service = await startService(settings);
    announce(service, settings);
    closeOnSignal(service);
  } catch (error) {
    console.error(
      isPortTaken(error) ? portTaken() : error instanceof Error ? error.message : error,
    );
    process.exitCode = 1;
  }
}

const portTaken = () => `Port ${process.env['PORT']} is taken. Set PORT to another one.`;

function announce({ url, port }: RunningService, settings: StartOptions): void {
  if (settings.port !== 0 && port !== settings.port) {
    console.log(`Port ${settings.port} is taken, using ${port}`);
  }
  console.log(`Service   ${url}`);
  console.log(`Token     ${settings.tokens.join(', ')}`);
  console.log(`Database  ${settings.database}`);
  if (settings.faults) console.log('Faults    on');
}
