import { closeOnSignal } from '../server/close-on-signal.js';
import { isPortTaken } from '../server/listen.js';
import { announcementOf } from './announcement.js';
import { readDemoSettings } from './read-demo-settings.js';
import { startDemo, type DemoOptions, type PortChoice, type RunningDemo } from './start-demo.js';

/** Runs the demo as the program of this process, until it is told to end. */
export const runDemo = async (): Promise<void> => {
  try {
    const settings = readDemoSettings(process.env);
    const demo = await startDemo(settings);
    announce(demo, settings);
    closeOnSignal(demo);
  } catch (error) {
    console.error(wordsFor(error));
    process.exitCode = 1;
  }
};

const wordsFor = (error: unknown): unknown => {
  if (!isPortTaken(error)) return error instanceof Error ? error.message : error;
  const port = String((error as { port?: number }).port);
  const name = port === process.env['PORT'] ? 'PORT' : 'SERVICE_PORT';
  return `Port ${port} is taken. Set ${name} to another one.`;
};

const announce = (demo: RunningDemo, settings: DemoOptions): void => {
  sayIfMoved(settings.page, demo.port);
  sayIfMoved(settings.service, demo.service.port);
  console.log(announcementOf(demo, settings));
};

const sayIfMoved = (wanted: PortChoice, port: number): void => {
  if (wanted.port !== 0 && port !== wanted.port) {
    console.log(`Port ${wanted.port} is taken, using ${port}`);
  }
};
