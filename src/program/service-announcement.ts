import { isLocalName } from '../interface/is-local-name.js';
import { withoutPassword } from './service-store.js';
import type { ServiceSettings } from './service-settings.js';

interface Facts {
  /** Address of the program. */
  url: string;
  tag: string;
  databaseUrl: string;
  /** Whether reading asks for a token. */
  asksForToken: boolean;
  settings: Pick<ServiceSettings, 'folder' | 'host' | 'origins' | 'readToken' | 'queueUrl'>;
}

/** What the program says as it starts: where rows can be seen, and the tag to paste. */
export const announcementOf = (facts: Facts): string => {
  const { url, tag, databaseUrl, asksForToken, settings } = facts;
  const { folder, origins, readToken, queueUrl } = settings;
  const where = origins ? `pages of ${origins.join(', ')}` : 'pages on this machine';
  const token = readToken ? 'READ_TOKEN' : `the token in ${folder}/read-token`;
  return [
    '',
    `  Rows      ${url}/rows`,
    '',
    '  Paste this tag into your page, above the scripts that call `analytics`:',
    '',
    `    ${tag}`,
    '',
    `  Database  ${withoutPassword(databaseUrl)}${queueUrl ? `, behind the queue ${withoutPassword(queueUrl)}` : ''}`,
    `  Sending   ${where}${origins ? '' : ' alone; SITE_ORIGIN lets others in'}`,
    `  Reading   ${asksForToken ? `asks for ${token}` : 'on this machine, without a token'}${isLocalName(settings.host) ? '; HOST lets others reach it' : ''}`,
    '',
  ].join('\n');
};
