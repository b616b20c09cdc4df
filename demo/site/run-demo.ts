import { createHash } from 'node:crypto';
import { closeOnSignal } from '../server/close-on-signal.js';
import { isPortTaken } from '../server/listen.js';
import { FILES, readDemoFile } from './demo-files.js';
import { readDemoSettings } from './read-demo-settings.js';
import { startDemo, type DemoOptions, type PortChoice, type RunningDemo } from './start-demo.js';

/** Runs the demo as the program of this process, until it is told to end. */
export const runDemo = async (): Promise<void> => {
  try {
    const settings = readDemoSettings(process.env);
    const demo = await startDemo(settings);
    await announce(demo, settings);
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

const announce = async (demo: RunningDemo, settings: DemoOptions): Promise<void> => {
  const { url, port, service } = demo;
  sayIfMoved(settings.page, port);
  sayIfMoved(settings.service, service.port);
  console.log(`
  Demo      ${url}

  Service   ${service.url}  (fault switch on)
  Database  ${settings.database}
${settings.host ? '' : '\n  Open to this machine only; HOST=0.0.0.0 lets others in.'}
  On a page of your own, try this tag, above the scripts that call analytics:

    ${await tagFor(demo, settings)}

  or, after \`import { analytics } from 'analytics-outbox'\`, this:

    analytics.init({ baseUrl: '${service.url}', token: '${settings.token}', project: 'shop', channel: 'web' });

  Ctrl+C stops it.
`);
};

/**
 * The tag of this demo, for its service, with the hash of the file as it is served. Without `async`, so that
 * the scripts below it can call `analytics` though they have no stub.
 */
const tagFor = async ({ url, service }: RunningDemo, { token }: DemoOptions): Promise<string> => {
  const script = await readDemoFile(FILES['/outbox.js']!);
  const integrity = `sha384-${createHash('sha384').update(script).digest('base64')}`;
  return `<script src="${url.replace(/\/$/, '')}/outbox.js" integrity="${integrity}" crossorigin="anonymous"
      data-base-url="${service.url}" data-token="${token}" data-project="shop" data-channel="web"></script>`;
};

const sayIfMoved = (wanted: PortChoice, port: number): void => {
  if (wanted.port !== 0 && port !== wanted.port) {
    console.log(`Port ${wanted.port} is taken, using ${port}`);
  }
};
