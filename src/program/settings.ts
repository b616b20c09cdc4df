import { text, url } from '../interface/kinds.js';
import { isToken, TOKEN_WORDS } from '../interface/is-token.js';
import { checkOptions, type Kinds } from '../relay/check-options.js';
import type { Rate } from '../relay.js';
import {
  header,
  linesOf,
  list,
  listOf,
  logFormat,
  origins,
  port,
  queueStore,
  rate,
  rateOf,
  readEnvironment,
  type Setting,
} from './setting-kinds.js';

/** What the program reads from the environment. */
interface Environment {
  SERVICE_URL: string;
  SERVICE_TOKEN: string;
  SITE_ORIGIN: string;
  PROJECTS: string;
  CHANNELS: string;
  STORE_URL: string;
  HOST?: string | undefined;
  PORT?: string | undefined;
  ADMIN_PORT?: string | undefined;
  CLIENT_ADDRESS_HEADER?: string | undefined;
  RATE_LIMIT?: string | undefined;
  CEILING?: string | undefined;
  LOG_FORMAT?: string | undefined;
}

export interface Settings {
  baseUrl: string;
  token: string;
  origins: string[];
  projects: string[];
  channels: string[];
  storeUrl: string;
  /** The address to listen at; all of the machine's without it. */
  host: string | undefined;
  port: number;
  /** Where metrics and health are told; nowhere without it. */
  adminPort: number | undefined;
  /** The header in which a proxy names the client; without it the connection's other end is the client. */
  addressHeader: string | undefined;
  rateLimit: Rate | false | undefined;
  ceiling: Rate | false | undefined;
}

/** How the program writes what it has to say. */
export type LogFormat = 'text' | 'json';

const SETTINGS: Readonly<Record<keyof Environment, Setting>> = {
  SERVICE_URL: { ...url, help: 'address of the service' },
  SERVICE_TOKEN: { words: TOKEN_WORDS, fits: isToken, help: 'its token' },
  SITE_ORIGIN: { ...origins, help: 'origins of your pages, with commas between them' },
  PROJECTS: { ...list, help: 'projects that may be written to, with commas between them' },
  CHANNELS: { ...list, help: 'channels that may be written to, with commas between them' },
  STORE_URL: { ...queueStore, help: 'redis://… or file:<folder>: where the queue is kept' },
  HOST: { ...text, help: 'address to listen at (all addresses)' },
  PORT: { ...port, help: 'port to listen at (3000)' },
  ADMIN_PORT: { ...port, help: 'port for /metrics and /health (none)' },
  CLIENT_ADDRESS_HEADER: { ...header, help: 'header in which your proxy names the client (none)' },
  RATE_LIMIT: { ...rate, help: 'records a second and at once of a client (100/1000)' },
  CEILING: { ...rate, help: 'the same for all clients together (2000/20000)' },
  LOG_FORMAT: { ...logFormat, help: 'text or json (text)' },
};
const KINDS: Kinds<Environment> = SETTINGS;
const REQUIRED = [
  ...['SERVICE_URL', 'SERVICE_TOKEN', 'SITE_ORIGIN', 'PROJECTS', 'CHANNELS', 'STORE_URL'],
] as (keyof Environment)[];

/** A line for each setting, for `--help`. */
export const settingLines = (): string[] => linesOf(SETTINGS);

/** Of an environment what has a name of ours and is not empty. */
const oursOf = (environment: NodeJS.ProcessEnv): Environment =>
  readEnvironment(environment, Object.keys(KINDS) as (keyof Environment)[]) as Environment;

/** Throws a TypeError that names every setting that is missing or wrong. */
export const readSettings = (environment: NodeJS.ProcessEnv): Settings => {
  const ours = oursOf(environment);
  checkOptions('wrong settings', ours, {
    kinds: KINDS,
    required: REQUIRED,
  });
  return {
    baseUrl: ours.SERVICE_URL,
    token: ours.SERVICE_TOKEN,
    origins: listOf(ours.SITE_ORIGIN),
    projects: listOf(ours.PROJECTS),
    channels: listOf(ours.CHANNELS),
    storeUrl: ours.STORE_URL,
    host: ours.HOST,
    port: Number(ours.PORT ?? 3_000),
    adminPort: ours.ADMIN_PORT === undefined ? undefined : Number(ours.ADMIN_PORT),
    addressHeader: ours.CLIENT_ADDRESS_HEADER,
    rateLimit: rateOf(ours.RATE_LIMIT),
    ceiling: rateOf(ours.CEILING),
  };
};

/** How to log. A wrong value is told by `readSettings`, which needs a log to do so. */
export const readLogFormat = ({ LOG_FORMAT }: NodeJS.ProcessEnv): LogFormat =>
  LOG_FORMAT === 'json' ? 'json' : 'text';

/** The only setting that the commands for dead letters need. */
export const readStoreUrl = (environment: NodeJS.ProcessEnv): string => {
  const { STORE_URL } = oursOf(environment);
  checkOptions<Pick<Environment, 'STORE_URL'>>(
    'wrong settings',
    { STORE_URL },
    { kinds: { STORE_URL: queueStore }, required: ['STORE_URL'] },
  );
  return STORE_URL;
};
