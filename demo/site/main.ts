import { closeOnSignal } from '../server/listen.js';
import { DEFAULT_PORT, failWith, readPort, readSettings, sayIfMoved } from '../server/program.js';
import { startDemo, type DemoOptions, type RunningDemo } from './start-demo.js';

export { startDemo };
export type { DemoOptions, RunningDemo } from './start-demo.js';

const PAGE_PORT = 8080;

/** Reads the settings of the demo from the environment; an empty variable counts as not given. */
export const readDemoSettings = (env: NodeJS.ProcessEnv): DemoOptions => {
  const { host, database, tokens } = readSettings({ ...env, PORT: '' });
  return {
    ...{ host, database, token: tokens[0]! },
    page: readPort(env, 'PORT', PAGE_PORT),
    service: readPort(env, 'SERVICE_PORT', DEFAULT_PORT),
  };
};

/** What `npm start` prints: the addresses, and how a page of one's own sends to this demo. */
export const announcementOf = (
  { url, service }: RunningDemo,
  { host, database }: Pick<DemoOptions, 'host' | 'database'>,
): string => `
  Demo      ${url}
  Rows      ${service.rows}

  Service   ${service.url}  (fault switch on)
  Database  ${database}
${host ? '' : '\n  Open to this machine only; HOST=0.0.0.0 lets others in.'}
  Paste this tag into a page of your own on this machine, above the scripts that call \`analytics\`:

    ${service.tag}

  or, after \`import { analytics } from 'analytics-outbox'\`, write this:

    analytics.init({ relay: '${service.url}/a', project: 'my-site', channel: 'web' });

  What your page sends appears at "Rows" as it arrives.

  Ctrl+C stops it.
`;

/** Runs the demo as the program of this process, until it is told to end. */
export const runDemo = async (more: Pick<DemoOptions, 'fresh'> = {}): Promise<void> => {
  try {
    const settings = { ...readDemoSettings(process.env), ...more };
    const demo = await startDemo(settings);
    sayIfMoved(settings.page.port, demo.port);
    sayIfMoved(settings.service.port, demo.service.port);
    console.log(announcementOf(demo, settings));
    closeOnSignal(demo);
  } catch (error) {
    failWith(error, (port) => (`${port}` === process.env['PORT'] ? 'PORT' : 'SERVICE_PORT'));
  }
};
