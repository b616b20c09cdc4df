import { isHttpUrl, isText, text, url, type Kind } from '../interface/kinds.js';
import { isToken, TOKEN_WORDS } from '../interface/is-token.js';
import { checkOptions, type Kinds } from '../relay/check-options.js';

/** What the program reads from the environment. */
interface Environment {
  SERVICE_URL: string;
  SERVICE_TOKEN: string;
  SITE_ORIGIN: string;
  PROJECTS: string;
  CHANNELS: string;
  STORE_URL: string;
  PORT?: string | undefined;
  CLIENT_ADDRESS_HEADER?: string | undefined;
}

export interface Settings {
  baseUrl: string;
  token: string;
  origins: string[];
  projects: string[];
  channels: string[];
  storeUrl: string;
  port: number;
  /** The header in which a proxy names the client; without it the connection's other end is the client. */
  addressHeader: string | undefined;
}

const listOf = (value: string): string[] => value.split(',').map((item) => item.trim());

const list: Kind = {
  words: 'names with commas between them, such as "shop,blog"',
  fits: (value) => isText(value) && listOf(value).every(isText),
};
const store: Kind = {
  words: 'the address of a Redis ("redis://localhost:6379") or of a folder ("file:/var/lib/relay")',
  fits: (value) => typeof value === 'string' && /^(rediss?:\/\/|file:)./.test(value),
};

const KINDS: Kinds<Environment> = {
  SERVICE_URL: url,
  SERVICE_TOKEN: { words: TOKEN_WORDS, fits: isToken },
  SITE_ORIGIN: {
    words: 'origins of your pages with commas between them, such as "https://shop.example"',
    fits: (value) =>
      isText(value) &&
      listOf(value).every((origin) => isHttpUrl(origin) && new URL(origin).origin === origin),
  },
  PROJECTS: list,
  CHANNELS: list,
  STORE_URL: store,
  PORT: {
    words: 'a port number',
    fits: (value) => /^\d{1,5}$/.test(String(value)) && Number(value) < 65_536,
  },
  CLIENT_ADDRESS_HEADER: text,
};

/** Of an environment what has a name of ours and is not empty. */
const oursOf = (environment: NodeJS.ProcessEnv): Environment =>
  Object.fromEntries(
    Object.keys(KINDS).map((name) => [name, environment[name] || undefined]),
  ) as unknown as Environment;

/** Throws a TypeError that names every setting that is missing or wrong. */
export const readSettings = (environment: NodeJS.ProcessEnv): Settings => {
  const ours = oursOf(environment);
  checkOptions('The environment is not complete', ours, {
    kinds: KINDS,
    required: ['SERVICE_URL', 'SERVICE_TOKEN', 'SITE_ORIGIN', 'PROJECTS', 'CHANNELS', 'STORE_URL'],
  });
  return {
    baseUrl: ours.SERVICE_URL,
    token: ours.SERVICE_TOKEN,
    origins: listOf(ours.SITE_ORIGIN),
    projects: listOf(ours.PROJECTS),
    channels: listOf(ours.CHANNELS),
    storeUrl: ours.STORE_URL,
    port: Number(ours.PORT ?? 3_000),
    addressHeader: ours.CLIENT_ADDRESS_HEADER,
  };
};

/** The only setting that the commands for dead letters need. */
export const readStoreUrl = (environment: NodeJS.ProcessEnv): string => {
  const { STORE_URL } = oursOf(environment);
  checkOptions<Pick<Environment, 'STORE_URL'>>(
    'The environment is not complete',
    { STORE_URL },
    { kinds: { STORE_URL: store }, required: ['STORE_URL'] },
  );
  return STORE_URL;
};
