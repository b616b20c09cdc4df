import { isText, text, type Kind } from '../interface/kinds.js';
import { isToken, TOKEN_WORDS } from '../interface/is-token.js';
import { checkOptions, type Kinds } from '../server/check-options.js';
import type { Names, Rate } from '../relay.js';
import { readToken, SAME_TOKEN } from '../server/service-options.js';
import type { TrustedProxies } from './client-address.js';
import {
  header,
  linesOf,
  list,
  listOf,
  logFormat,
  namesOf,
  origins,
  numberOf,
  port,
  proxies,
  proxiesOf,
  queueStore,
  rate,
  rateOf,
  readEnvironment,
  tellMisspelt,
  wholeNumber,
  type Setting,
} from './setting-kinds.js';

/** A token for writing, and the projects that it may write to. */
export interface WriteToken {
  token: string;
  projects: Names;
}

export interface ServiceSettings {
  /** Where the program keeps what it makes: tokens, and the database if no other is named. */
  folder: string;
  databaseUrl: string | undefined;
  /** Where a queue is kept in front of the database; without it records go straight into the database. */
  queueUrl: string | undefined;
  /** Without them the program makes one, for all projects. */
  writeTokens: readonly WriteToken[] | undefined;
  readToken: string | undefined;
  /** Without them pages on this machine may send. */
  origins: readonly string[] | undefined;
  projects: Names;
  channels: Names;
  host: string;
  /** Without it the first free port from 8787 on. */
  port: number | undefined;
  adminPort: number | undefined;
  addressHeader: string | undefined;
  trustedProxies?: TrustedProxies | undefined;
  rateLimit: Rate | false | undefined;
  ceiling: Rate | false | undefined;
  /** Rows are deleted when they are older; never without it. */
  retentionDays: number | undefined;
}

const PAIR = /^([^=\s][^=]*)=(.+)$/;
const pairsOf = (value: string): WriteToken[] => {
  const byToken = new Map<string, Names>();
  for (const pair of listOf(value)) {
    const [, project = '', token = ''] = PAIR.exec(pair) ?? [];
    const known = byToken.get(token) ?? [];
    byToken.set(token, project === '*' || known === '*' ? '*' : [...known, project]);
  }
  return [...byToken].map(([token, projects]) => ({ token, projects }));
};
const writeTokens: Kind = {
  words:
    'pairs of a project and its token with commas between them, such as "shop=tok_1,blog=tok_2"; "*" is any project',
  fits: (value) =>
    isText(value) &&
    listOf(value).every((pair) => {
      const [, , token] = PAIR.exec(pair) ?? [];
      return token !== undefined && isToken(token);
    }),
};
export const database: Kind = {
  words:
    'the address of a Postgres ("postgres://localhost/analytics") or of a file ("file:/var/lib/analytics/rows.db")',
  fits: (value) => typeof value === 'string' && /^(postgres(ql)?:\/\/|file:(?!~))\S+$/.test(value),
};

const token: Kind = { words: TOKEN_WORDS, fits: isToken };

const SETTINGS = {
  SITE_ORIGIN: {
    ...origins,
    help: 'origins of your pages, with commas between them (pages on this machine)',
  },
  PROJECTS: { ...list, help: 'projects that may be written to, with commas between them (any)' },
  CHANNELS: { ...list, help: 'channels that may be written to, with commas between them (any)' },
  WRITE_TOKENS: {
    ...writeTokens,
    help: 'project=token, with commas between pairs (made, for any project)',
  },
  READ_TOKEN: {
    ...token,
    help: 'token for reading and erasing (made; not asked for on this machine alone)',
  },
  DATABASE_URL: { ...database, help: 'postgres://… or file:… (a file in DATA_FOLDER)' },
  STORE_URL: {
    ...queueStore,
    help: 'redis://… or file:<folder>: a queue in front of the database (none)',
  },
  DATA_FOLDER: { ...text, help: 'folder for what the program makes (./analytics-data)' },
  RETENTION_DAYS: {
    ...wholeNumber,
    help: 'rows are deleted after so many days (never)',
  },
  HOST: { ...text, help: 'address to listen at (127.0.0.1: this machine alone)' },
  PORT: { ...port, help: 'port to listen at (the first free one from 8787 on)' },
  ADMIN_PORT: { ...port, help: 'port for /metrics and /health (none)' },
  TRUSTED_PROXIES: { ...proxies, help: 'how many proxies are in front, or their networks (none)' },
  CLIENT_ADDRESS_HEADER: { ...header, help: 'header in which they name the client (see the docs)' },
  RATE_LIMIT: { ...rate, help: 'records a second and at once of a client (100/1000)' },
  CEILING: { ...rate, help: 'the same for all clients together (2000/20000)' },
  LOG_FORMAT: { ...logFormat, help: 'text or json (text)' },
} satisfies Record<string, Setting>;

type Name = keyof typeof SETTINGS;
const NAMES = Object.keys(SETTINGS) as Name[];
const SECRETS: readonly Name[] = ['WRITE_TOKENS', 'READ_TOKEN', 'DATABASE_URL', 'STORE_URL'];

const SHOWN = NAMES.filter((name) => !SECRETS.includes(name));

/** A line for each setting, for `--help`. */
export const serviceSettingLines = (): string[] => linesOf(SETTINGS);

type Environment = Partial<Record<Name, string>>;
type Check = NonNullable<Parameters<typeof checkOptions<Environment>>[2]['together']>;

/** The settings of these names. Throws a TypeError that names each wrong one. None is required. */
const read = (environment: NodeJS.ProcessEnv, names: readonly Name[], together: Check) => {
  const ours = readEnvironment(environment, names, SECRETS);
  const kinds = SETTINGS as Kinds<Environment>;
  checkOptions('wrong settings', ours, { kinds, shown: SHOWN, together });
  return { ...ours, DATA_FOLDER: ours.DATA_FOLDER ?? 'analytics-data' };
};

/** What tokens must be to each other and to the lists. No token is shown, nor a project, which may be a part of one. */
const checkTokens: Check = ({ READ_TOKEN, WRITE_TOKENS = '', PROJECTS = '*' }, { wrong }) => {
  if (!writeTokens.fits(WRITE_TOKENS || '*=any')) return;
  const pairs = WRITE_TOKENS ? pairsOf(WRITE_TOKENS) : [];
  if (READ_TOKEN !== undefined) {
    if (!readToken.fits(READ_TOKEN)) wrong('READ_TOKEN', `must be ${readToken.words}`);
    if (pairs.some(({ token }) => token === READ_TOKEN)) wrong('READ_TOKEN', SAME_TOKEN);
  }
  const listed = namesOf(PROJECTS);
  const isListed = (project: string) => listed === '*' || listed.includes(project);
  const unlisted = pairs.filter(({ projects }) => projects !== '*' && !projects.every(isListed));
  if (unlisted.length)
    wrong(
      'WRITE_TOKENS',
      `has a token for a project that \`PROJECTS\` (${PROJECTS}) does not list: nothing could be written with it`,
    );
};

/** The settings that the command `tail` needs. */
export const readTailSettings = (
  environment: NodeJS.ProcessEnv,
): Pick<ServiceSettings, 'folder' | 'readToken'> => {
  const ours = read(environment, ['DATA_FOLDER', 'READ_TOKEN'], () => {});
  return { folder: ours.DATA_FOLDER, readToken: ours.READ_TOKEN };
};

/**
 * The settings of the whole service.
 * @param say called with what is no error and yet seems to be wrong
 */
export const readServiceSettings = (
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void = () => {},
): ServiceSettings => {
  tellMisspelt(environment, NAMES, SECRETS, say);
  const ours = read(environment, NAMES, checkTokens);
  return {
    folder: ours.DATA_FOLDER,
    databaseUrl: ours.DATABASE_URL,
    queueUrl: ours.STORE_URL,
    writeTokens: ours.WRITE_TOKENS === undefined ? undefined : pairsOf(ours.WRITE_TOKENS),
    readToken: ours.READ_TOKEN,
    origins: ours.SITE_ORIGIN === undefined ? undefined : listOf(ours.SITE_ORIGIN),
    projects: namesOf(ours.PROJECTS ?? '*'),
    channels: namesOf(ours.CHANNELS ?? '*'),
    host: ours.HOST ?? '127.0.0.1',
    port: numberOf(ours.PORT),
    adminPort: numberOf(ours.ADMIN_PORT),
    addressHeader: ours.CLIENT_ADDRESS_HEADER,
    trustedProxies: proxiesOf(ours.TRUSTED_PROXIES),
    rateLimit: rateOf(ours.RATE_LIMIT),
    ceiling: rateOf(ours.CEILING),
    retentionDays: numberOf(ours.RETENTION_DAYS),
  };
};
