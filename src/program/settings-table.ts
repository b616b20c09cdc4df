import { text, url, type Kind } from '../interface/kinds.js';
import * as kinds from './setting-kinds.js';

const settingOf =
  (only?: kinds.Place) =>
  (kind: Kind, help: string, usual?: string): kinds.Setting => ({ ...kind, help, usual, only });
const always = settingOf();
const ofStore = settingOf('without DATA_FOLDER=none');
const ofService = settingOf('with SERVICE_URL');
/** Marks a setting whose value is not shown in messages, and may be in a file. */
const secret = <One extends kinds.Setting>(one: One) => ({ ...one, isSecret: true });
/** Marks a setting that must be given with `SERVICE_URL`. */
const needed = <One extends kinds.Setting>(one: One) => ({ ...one, isNeeded: true });

/** Each setting, in the order of `--help`. The checks, the help and the docs are made from this table. */
export const SETTINGS = {
  SERVICE_URL: always(url, 'address of a service to pass records on to', 'none'),
  SITE_ORIGIN: needed(
    always(
      kinds.origins,
      'origins of your pages, or https://*.shop.example',
      'pages on this machine',
    ),
  ),
  PROJECTS: needed(always(kinds.list, 'projects that may be written to; * is any', 'any')),
  CHANNELS: needed(always(kinds.list, 'channels that may be written to; * is any', 'any')),
  HOST: always(text, 'address to listen at', '127.0.0.1: this machine alone'),
  PORT: always(kinds.port, 'port to listen at', 'the first free one from 8787 on'),
  PUBLIC_URL: always(
    kinds.publicUrl,
    'where pages and people reach this program: in the tag, and in links',
    'HOST and PORT',
  ),
  ADMIN_PORT: always(kinds.port, 'port for /metrics, /health and /try-now', 'none'),
  TRUSTED_PROXIES: always(kinds.proxies, 'number or networks of proxies in front', 'none'),
  CLIENT_ADDRESS_HEADER: always(
    kinds.header,
    'header that names the client',
    'x-forwarded-for with TRUSTED_PROXIES',
  ),
  RATE_LIMIT: always(kinds.rate, 'records of one client, a second and at once', '100/1000'),
  CEILING: always(kinds.rate, 'records of all clients, a second and at once', '2000/20000'),
  IGNORE_ADDRESSES: always(kinds.networks, 'addresses and networks of your own visits', 'none'),
  GPC: always(kinds.keepOrDrop, 'keep or drop records of browsers with Sec-GPC: 1', 'keep'),
  LOG_FORMAT: always(kinds.logFormat, 'format of the log: text or json', 'text'),

  DATABASE_URL: secret(ofStore(kinds.database, 'postgres://… or file:…', 'a file in DATA_FOLDER')),
  DATA_FOLDER: always(
    text,
    'folder for the database and tokens; none keeps nothing, with SERVICE_URL',
    './analytics-data',
  ),
  WRITE_TOKENS: secret(
    ofStore(kinds.writeTokens, 'project=token, with commas between pairs', 'made, for any project'),
  ),
  READ_TOKEN: secret(ofStore(kinds.token, 'token for reading and erasing', 'made')),
  READ_TOKENS: secret(
    ofStore(kinds.readTokens, 'project=token, with commas: each reads its project alone', 'none'),
  ),
  EXPORT: secret(
    ofStore(kinds.exports, 'clickhouse://…, postgres://… or file:<folder> to fill', 'none'),
  ),
  NOTIFY: secret(
    ofStore(kinds.notify, 'https://…, ntfy://… or slack+https://…: where messages go', 'none'),
  ),
  NOTIFY_EVENTS: ofStore(
    kinds.events,
    'which events ring: project/channel/event, * is any',
    'none',
  ),
  NOTIFY_SECRET: secret(
    ofStore(kinds.notifySecrets, 'whsec_…: signs webhooks, which need it', 'none'),
  ),
  RETENTION_DAYS: ofStore(kinds.wholeNumber, 'days after which rows are deleted', 'never'),

  SERVICE_TOKEN: secret(
    needed(ofService(kinds.token, 'token of the service; SIGHUP reads its file again')),
  ),
  SERVICE_RATE: ofService(kinds.rate, 'records to the service, a second and at once', 'off'),
  CONCURRENCY: ofService(kinds.wholeNumber, 'requests to it at a time', '32'),
  TIMEOUT_SECONDS: ofService(kinds.amount, 'how long a request to it may take', '10'),
  IDEMPOTENCY_KEYS: ofService(
    kinds.onOff,
    'whether requests to it have the record id as Idempotency-Key',
    'on',
  ),
  MAX_AGE_DAYS: ofService(kinds.amount, 'how long a row that fails is tried', '7'),
} satisfies Record<string, kinds.Setting>;

export type SettingName = keyof typeof SETTINGS;
/** What other programs call such a setting. */
export const OTHER_NAMES: Partial<Record<SettingName, readonly string[]>> = {
  SERVICE_URL: ['UPSTREAM_URL', 'BASE_URL', 'API_URL'],
  SITE_ORIGIN: [
    ...['CORS_ORIGIN', 'CORS_ORIGINS', 'ALLOWED_ORIGIN', 'ALLOWED_ORIGINS', 'CORS_ALLOWED_ORIGINS'],
    ...['ORIGIN', 'ORIGINS', 'SITE_URL', 'SITE'],
  ],
  HOST: ['LISTEN', 'BIND', 'BIND_ADDRESS', 'LISTEN_ADDRESS'],
  ADMIN_PORT: ['METRICS_PORT'],
  TRUSTED_PROXIES: ['TRUST_PROXY'],
  DATABASE_URL: [
    ...['DB_URL', 'DATABASE_URI', 'DB', 'DATABASE', 'PG_URL', 'POSTGRES_URL', 'POSTGRESQL_URL'],
    'SQLITE_PATH',
  ],
  DATA_FOLDER: ['DATA_DIR', 'DATA_PATH', 'STORAGE_PATH'],
  WRITE_TOKENS: ['WRITE_KEY', 'API_KEY', 'API_TOKEN', 'TOKEN'],
  READ_TOKEN: ['ADMIN_TOKEN', 'ADMIN_PASSWORD'],
  EXPORT: ['EXPORTS', 'EXPORT_URL', 'CLICKHOUSE_URL', 'CLICKHOUSE_DATABASE_URL', 'WAREHOUSE_URL'],
  NOTIFY: ['NOTIFY_URL', 'WEBHOOK', 'WEBHOOK_URL', 'SLACK_URL', 'SLACK_WEBHOOK_URL', 'NTFY_URL'],
  PUBLIC_URL: ['APP_URL', 'EXTERNAL_URL'],
  RETENTION_DAYS: ['RETENTION', 'DATA_RETENTION_DAYS', 'TTL_DAYS'],
};
export const NAMES = Object.keys(SETTINGS) as SettingName[];
export const SECRETS = NAMES.filter((name) => SETTINGS[name].isSecret);

const lineOf = (name: SettingName): string => {
  const { help, usual } = SETTINGS[name];
  return `  ${name.padEnd(22)} ${help}${usual ? ` (${usual})` : ''}`;
};

/** The lines of `--help` about settings, grouped by the settings beside which they have a meaning. */
export const settingLines = (): string[] => [
  ...[...new Set(NAMES.map((name) => SETTINGS[name].only))].flatMap((only) => [
    ...(only ? ['', `Only ${only}:`] : []),
    ...NAMES.filter((name) => SETTINGS[name].only === only).map(lineOf),
  ]),
  '',
  `With SERVICE_URL these are needed: ${NAMES.filter((name) => SETTINGS[name].isNeeded).join(', ')}.`,
  'Lists have commas between their items.',
  `A file may hold the value: ${SECRETS.map((name) => `${name}_FILE`).join(', ')}.`,
  'HTTPS_PROXY and NO_PROXY name a proxy toward the service, and hosts that need none.',
];
