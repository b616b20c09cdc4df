import type { DemoOptions, RunningDemo } from './start-demo.js';

type Settings = Pick<DemoOptions, 'host' | 'database'>;

/** What `npm start` prints: the addresses, and how a page of one's own sends to this demo. */
export const announcementOf = (
  { url, service }: RunningDemo,
  { host, database }: Settings,
): string => `
  Demo      ${url}
  Rows      ${service.url}/rows

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
