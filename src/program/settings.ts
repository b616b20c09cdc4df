import { text, url, type Kind } from '../interface/kinds.js';
import { isToken, TOKEN_WORDS } from '../interface/is-token.js';
import { checkOptions, type Kinds } from '../server/check-options.js';
import type { Names, Rate } from '../relay.js';
import type { TrustedProxies } from './client-address.js';
import {
  amount,
  header,
  linesOf,
  list,
  listOf,
  logFormat,
  namesOf,
  numberOf,
  onOff,
  origins,
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
import type { StoreSettings } from './store.js';

export interface Settings extends StoreSettings {
  baseUrl: string;
  token: string;
  origins: string[];
  projects: Names;
  channels: Names;
  storeUrl: string;
  /** The address to listen at; all of the machine's without it. */
  host: string | undefined;
  port: number;
  /** Where metrics and health are told; nowhere without it. */
  adminPort: number | undefined;
  /** The header in which a proxy names the client; without it the connection's other end is the client. */
  addressHeader: string | undefined;
  trustedProxies: TrustedProxies | undefined;
  rateLimit: Rate | false | undefined;
  ceiling: Rate | false | undefined;
  /** Records a second that go to the service at the most. */
  serviceRate: Rate | false | undefined;
  concurrency: number | undefined;
  /** Milliseconds of one try at the service. */
  timeout: number | undefined;
  /** Milliseconds a record may wait in the queue. */
  maxAge: number | undefined;
  idempotencyKey: boolean;
}

/** How the program writes what it has to say. */
export type LogFormat = 'text' | 'json';

const token: Kind = { words: TOKEN_WORDS, fits: isToken };
const SETTINGS = {
  SERVICE_URL: { ...url, help: 'address of the service' },
  SERVICE_TOKEN: { ...token, help: 'its token; SIGHUP reads SERVICE_TOKEN_FILE again' },
  SITE_ORIGIN: { ...origins, help: 'origins of your pages, with commas between them' },
  PROJECTS: {
    ...list,
    help: 'projects that may be written to, with commas between them; * is any',
  },
  CHANNELS: {
    ...list,
    help: 'channels that may be written to, with commas between them; * is any',
  },
  STORE_URL: { ...queueStore, help: 'redis://… or file:<folder>: where the queue is kept' },
  HOST: { ...text, help: 'address to listen at (all addresses)' },
  PORT: { ...port, help: 'port to listen at (3000)' },
  ADMIN_PORT: { ...port, help: 'port for /metrics, /health and /try-now (none)' },
  TRUSTED_PROXIES: { ...proxies, help: 'how many proxies are in front, or their networks (none)' },
  CLIENT_ADDRESS_HEADER: { ...header, help: 'header in which they name the client (see the docs)' },
  RATE_LIMIT: { ...rate, help: 'records a second and at once of a client (100/1000)' },
  CEILING: { ...rate, help: 'the same for all clients together (2000/20000)' },
  SERVICE_RATE: { ...rate, help: 'the same toward the service, from this process (off)' },
  CONCURRENCY: { ...wholeNumber, help: 'requests to the service at a time (32)' },
  TIMEOUT_SECONDS: { ...amount, help: 'how long one of them may take (10)' },
  IDEMPOTENCY_KEYS: { ...onOff, help: 'whether they carry the id of the record (on)' },
  MAX_AGE_DAYS: { ...amount, help: 'how long a record is tried (7)' },
  MAX_WAITING: { ...wholeNumber, help: 'records that may wait (1000000)' },
  MAX_WAITING_OF_CLIENT: { ...wholeNumber, help: 'the same of one client (50000)' },
  MAX_DEAD: { ...wholeNumber, help: 'dead letters that are kept (100000)' },
  MAX_DEAD_OF_CLIENT: { ...wholeNumber, help: 'the same of one client (10000)' },
  ID_DAYS: { ...amount, help: 'how long the ids of records are known (7)' },
  MAX_IDS: { ...wholeNumber, help: 'ids that are known (5000000)' },
  MAX_IDS_OF_CLIENT: { ...wholeNumber, help: 'the same of one client (500000)' },
  PREFIX: { ...text, help: 'begins the names of all keys in Redis (analytics-outbox)' },
  LOG_FORMAT: { ...logFormat, help: 'text or json (text)' },
} satisfies Record<string, Setting>;
type Name = keyof typeof SETTINGS;
type Environment = Partial<Record<Name, string>>;

const REQUIRED: readonly Name[] = [
  ...([
    'SERVICE_URL',
    'SERVICE_TOKEN',
    'SITE_ORIGIN',
    'PROJECTS',
    'CHANNELS',
    'STORE_URL',
  ] as const),
];
const OF_STORE: readonly Name[] = [
  ...([
    'PREFIX',
    'MAX_WAITING',
    'MAX_WAITING_OF_CLIENT',
    'MAX_DEAD',
    'MAX_DEAD_OF_CLIENT',
  ] as const),
];
const SECRETS: readonly Name[] = ['SERVICE_TOKEN', 'STORE_URL'];
/** An address that is wrong may be so because a password is in it. */
const SHOWN = (Object.keys(SETTINGS) as Name[]).filter(
  (name) => !SECRETS.includes(name) && name !== 'SERVICE_URL',
);
/** Settings of the program's HTTP client. */
const OF_CLIENT = [
  'HTTPS_PROXY, NO_PROXY: a proxy toward the service, and hosts that need none',
  `${SECRETS.map((name) => `${name}_FILE`).join(', ')}: a file that has the value`,
];

/** A line for each setting, for `--help`. */
export const settingLines = (): string[] => [
  ...linesOf(SETTINGS),
  ...OF_CLIENT.map((line) => `  ${line}`),
];

/** The settings of these names, all of which are needed or may be missing. Throws a TypeError that names each wrong one. */
const read = (
  environment: NodeJS.ProcessEnv,
  names: readonly Name[],
  required: readonly Name[],
): Environment => {
  const ours = readEnvironment(environment, names, SECRETS);
  const kinds = SETTINGS as Kinds<typeof ours>;
  checkOptions('wrong settings', ours, { kinds, required, shown: SHOWN });
  return ours;
};

const DAY_MS = 86_400_000;
const times = (factor: number, value: string | undefined): number | undefined =>
  value === undefined ? undefined : Number(value) * factor;

/** What is kept, under which names. */
const storeSettingsOf = (ours: Environment): StoreSettings => ({
  prefix: ours.PREFIX,
  bounds: {
    maxWaiting: numberOf(ours.MAX_WAITING),
    maxWaitingOfClient: numberOf(ours.MAX_WAITING_OF_CLIENT),
    maxDead: numberOf(ours.MAX_DEAD),
    maxDeadOfClient: numberOf(ours.MAX_DEAD_OF_CLIENT),
  },
  ids: {
    idAge: times(DAY_MS, ours.ID_DAYS),
    maxIds: numberOf(ours.MAX_IDS),
    maxIdsOfClient: numberOf(ours.MAX_IDS_OF_CLIENT),
  },
});

/**
 * Throws a TypeError that names every setting that is missing or wrong.
 * @param say called with what is no error and yet seems to be wrong
 */
export const readSettings = (
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void = () => {},
): Settings => {
  const names = Object.keys(SETTINGS) as Name[];
  tellMisspelt(environment, names, SECRETS, say);
  const ours = read(environment, names, REQUIRED);
  return {
    ...storeSettingsOf(ours),
    baseUrl: ours.SERVICE_URL!,
    token: ours.SERVICE_TOKEN!,
    origins: listOf(ours.SITE_ORIGIN!),
    projects: namesOf(ours.PROJECTS!),
    channels: namesOf(ours.CHANNELS!),
    storeUrl: ours.STORE_URL!,
    host: ours.HOST,
    port: Number(ours.PORT ?? 3_000),
    adminPort: numberOf(ours.ADMIN_PORT),
    addressHeader: ours.CLIENT_ADDRESS_HEADER,
    trustedProxies: proxiesOf(ours.TRUSTED_PROXIES),
    rateLimit: rateOf(ours.RATE_LIMIT),
    ceiling: rateOf(ours.CEILING),
    serviceRate: rateOf(ours.SERVICE_RATE),
    concurrency: numberOf(ours.CONCURRENCY),
    timeout: times(1_000, ours.TIMEOUT_SECONDS),
    maxAge: times(DAY_MS, ours.MAX_AGE_DAYS),
    idempotencyKey: ours.IDEMPOTENCY_KEYS !== 'off',
  };
};

/** The token as it is now: its file may have changed. */
export const readToken = (environment: NodeJS.ProcessEnv): string =>
  read(environment, ['SERVICE_TOKEN'], ['SERVICE_TOKEN']).SERVICE_TOKEN!;

/** How to log. A wrong value is told by `readSettings`, which needs a log to do so. */
export const readLogFormat = ({ LOG_FORMAT }: NodeJS.ProcessEnv): LogFormat =>
  LOG_FORMAT === 'json' ? 'json' : 'text';

/** The settings that the commands for dead letters need. */
export const readStoreSettings = (
  environment: NodeJS.ProcessEnv,
): StoreSettings & { storeUrl: string } => {
  const ours = read(environment, ['STORE_URL', ...OF_STORE], ['STORE_URL']);
  return { ...storeSettingsOf(ours), storeUrl: ours.STORE_URL! };
};
