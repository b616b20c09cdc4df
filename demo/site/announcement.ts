import { createHash } from 'node:crypto';
import { FILES, readDemoFile } from './demo-files.js';
import { DEMO_PROJECT } from './demo-project.js';
import type { DemoOptions, RunningDemo } from './start-demo.js';

type Settings = Pick<DemoOptions, 'host' | 'database' | 'token'>;

/** What `npm start` prints: the addresses, and how a page of one's own sends to this demo. */
export const announcementOf = async (demo: RunningDemo, settings: Settings): Promise<string> => `
  Demo      ${demo.url}

  Service   ${demo.service.url}  (fault switch on)
  Rows      ${demo.service.url}/_/events
            ${demo.service.url}/_/identifies
  Database  ${settings.database}
${settings.host ? '' : '\n  Open to this machine only; HOST=0.0.0.0 lets others in.'}
  On a page of your own, try this tag, above the scripts that call analytics:

    ${await tagFor(demo, settings)}

  or, after \`import { analytics } from 'analytics-outbox'\`, this:

    analytics.init({ baseUrl: '${demo.service.url}', token: '${settings.token}', project: '${DEMO_PROJECT}', channel: 'web' });

  What your page sends appears on the demo page, under "Database".

  Ctrl+C stops it.
`;

/**
 * The tag of this demo, for its service, with the hash of the file as it is served. Without `async`, so that
 * the scripts below it can call `analytics` though they have no stub.
 */
const tagFor = async ({ url, service }: RunningDemo, { token }: Settings): Promise<string> => {
  const script = await readDemoFile(FILES['/outbox.js']!);
  const integrity = `sha384-${createHash('sha384').update(script).digest('base64')}`;
  return `<script src="${url.replace(/\/$/, '')}/outbox.js" integrity="${integrity}" crossorigin="anonymous"
      data-base-url="${service.url}" data-token="${token}" data-project="${DEMO_PROJECT}" data-channel="web"></script>`;
};
