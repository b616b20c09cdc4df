import { isLocalName } from '../util/is-local-name.js';
import type { Settings } from './settings.js';

interface Facts {
  /** Address of the program. */
  url: string;
  tag: string;
  /** The token that reading requires; undefined if it requires none. */
  readToken: string | undefined;
  settings: Pick<Settings, 'keepsNothing' | 'store' | 'host' | 'origins'>;
}

/** The text for the person who starts the program: the tag to paste, and the address of the rows, if there are any. */
export const announcementOf = ({ url, tag, readToken, settings }: Facts): string => {
  const { keepsNothing, store, host, origins } = settings;
  const pages = origins
    ? `pages of ${origins.join(', ')}`
    : 'pages on this machine alone; SITE_ORIGIN lets others in';
  const token = store.readToken ? 'READ_TOKEN' : `the token in ${store.folder}/read-token`;
  const readers = readToken ? `asks for ${token}` : 'on this machine, without a token';
  const others = isLocalName(host) ? '; HOST lets others reach it' : '';
  return [
    '',
    ...(keepsNothing ? [] : [`  Rows      ${url}/rows`, '']),
    '  Paste this tag into your page, above the scripts that call `analytics`:',
    '',
    `    ${tag}`,
    '',
    `  Sending   ${pages}`,
    ...(keepsNothing ? [] : [`  Reading   ${readers}${others}`]),
    '',
  ].join('\n');
};
