import { createTarget } from '../server/exports/create-target.js';
import { isLocalName } from '../util/is-local-name.js';
import { withoutPassword } from './open-store.js';
import type { Settings } from './settings.js';
import type { SettingName } from './settings-table.js';

interface Facts {
  /** Address of the program. */
  url: string;
  tag: string;
  /** The token that reading requires; undefined if it requires none. */
  readToken: string | undefined;
  settings: Settings;
}

type InEffect = Partial<Record<SettingName, string>>;

const namesIn = (names: Settings['projects']): string => (names === '*' ? 'any' : names.join(', '));

/** What a store keeps, who reads it, and where its rows go. */
const ofStore = ({ readToken, settings: { store, notify } }: Facts): InEffect => {
  const days = store.retentionDays;
  const targets = store.exports.map((address) => createTarget(address).name);
  const token = store.readToken ? 'it' : `the token in ${store.folder}/read-token`;
  const receivers = notify?.addresses.map(({ name }) => name).join(', ');
  return {
    DATA_FOLDER: store.folder,
    DATABASE_URL: withoutPassword(store.databaseUrl),
    RETENTION_DAYS: days === undefined ? 'rows are kept for ever' : String(days),
    READ_TOKEN: readToken ? `reading asks for ${token}` : 'reading needs none on this machine',
    EXPORT: targets.join(', ') || 'none',
    NOTIFY: notify ? `${receivers} about ${notify.events.join(', ')}` : 'none',
  };
};

/** What the settings come to. Nothing of it is secret. */
const inEffect = (facts: Facts): InEffect => {
  const { keepsNothing, service, origins, projects, channels, host, publicUrl } = facts.settings;
  return {
    HOST: `${host}${isLocalName(host) ? ': this machine alone' : ''}`,
    PUBLIC_URL: publicUrl ?? 'none',
    SITE_ORIGIN: origins?.join(', ') ?? 'pages on this machine alone',
    PROJECTS: namesIn(projects),
    CHANNELS: namesIn(channels),
    ...(service && { SERVICE_URL: withoutPassword(service.baseUrl) }),
    ...(!keepsNothing && ofStore(facts)),
  };
};

const ELSEWHERE = [
  '  Pages on other machines reach this program by another address. Set PUBLIC_URL to that, and it is in the tag.',
  '',
];

/** The text for the person who starts the program: the tag to paste, where the rows are, and what is in effect. */
export const announcementOf = (facts: Facts): string => {
  const { url, tag, settings } = facts;
  const { keepsNothing, host, publicUrl } = settings;
  const isElsewhere = publicUrl === undefined && !isLocalName(host);
  return [
    '',
    ...(keepsNothing ? [] : [`  Rows      ${url}/rows`, '']),
    '  Paste this tag into your page, above the scripts that call `analytics`:',
    '',
    `    ${tag}`,
    '',
    ...(isElsewhere ? ELSEWHERE : []),
    '  In effect:',
    '',
    ...Object.entries(inEffect(facts)).map(([name, words]) => `    ${name.padEnd(16)} ${words}`),
    '',
  ].join('\n');
};
