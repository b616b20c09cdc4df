import { checkOptions, type Kinds } from '../server/check-options.js';
import { createTarget, faultOfAddress } from '../server/exports/create-target.js';
import { checkReadTokens, readToken } from '../server/service-options.js';
import type { NotifyOptions } from '../server/exports/notify.js';
import { refuseGone } from './gone-settings.js';
import type { LogFormat } from './log.js';
import { readEnvironment, tellMisspelt } from './read-environment.js';
import * as kinds from './setting-kinds.js';
import { NAMES, OTHER_NAMES, SECRETS, SETTINGS, type SettingName } from './settings-table.js';

type Environment = Partial<Record<SettingName, string>>;
type Check = NonNullable<Parameters<typeof checkOptions<Environment>>[2]['together']>;

/** In place of a folder: the program keeps nothing. */
const NONE = 'none';

/** Refuses the settings that have no meaning beside the others. */
const checkMeaning: Check = (given, { wrong }) => {
  const hasService = given.SERVICE_URL !== undefined;
  const keepsNothing = given.DATA_FOLDER === NONE;
  if (keepsNothing && !hasService)
    wrong('DATA_FOLDER', 'is `none`, which keeps nothing, so it needs `SERVICE_URL`');
  const isThere: Readonly<Record<kinds.Place, boolean>> = {
    'without DATA_FOLDER=none': !keepsNothing,
    'with SERVICE_URL': hasService,
  };
  for (const name of Object.keys(given) as SettingName[]) {
    const { only } = SETTINGS[name];
    if (only && !isThere[only]) wrong(name, `is only for a program ${only}`);
  }
};

/** Whether `PROJECTS` has a project, and how a message says that it does not. */
const listOfProjects = ({ PROJECTS = '*' }: Environment) => {
  const listed = kinds.namesOf(PROJECTS);
  return {
    has: (project: string) => listed === '*' || listed.includes(project),
    lacks: `that \`PROJECTS\` (${PROJECTS}) does not list`,
  };
};

/** Checks tokens against each other and the lists. Messages show no project of a token: it might be a part of one. */
const checkTokens: Check = (given, { wrong }) => {
  const { READ_TOKEN, READ_TOKENS, WRITE_TOKENS } = given;
  const pairs = kinds.writeTokens.fits(WRITE_TOKENS) ? kinds.writeTokensOf(WRITE_TOKENS!) : [];
  const readTokens = kinds.readTokens.fits(READ_TOKENS) ? kinds.readTokensOf(READ_TOKENS!) : [];
  if (READ_TOKEN !== undefined && !readToken.fits(READ_TOKEN))
    wrong('READ_TOKEN', `must be ${readToken.words}`);
  const tokens = { readToken: READ_TOKEN, readTokens, writeTokens: pairs };
  checkReadTokens(tokens, ['READ_TOKEN', 'READ_TOKENS'], wrong);
  const { has, lacks } = listOfProjects(given);
  if (pairs.some(({ projects }) => projects !== '*' && !projects.every(has)))
    wrong('WRITE_TOKENS', `has a token for a project ${lacks}: nothing could be written with it`);
  if (!readTokens.every(({ project }) => project === undefined || has(project)))
    wrong('READ_TOKENS', `has a token for a project ${lacks}: nothing could be read with it`);
};

/** Checks the addresses of exports. No message shows one, since it may hold a password. */
const checkExports: Check = ({ EXPORT, DATABASE_URL }, { wrong }) => {
  if (!kinds.exports.fits(EXPORT)) return;
  const addresses = kinds.wordsOf(EXPORT!);
  const faults = addresses.map(faultOfAddress);
  faults.forEach((fault, index) => {
    if (fault) wrong('EXPORT', `has an address, number ${index + 1}, that ${fault}`);
  });
  if (faults.some(Boolean)) return;
  const names = addresses.map((address) => createTarget(address).name);
  if (new Set(names).size < names.length) wrong('EXPORT', 'names the same target twice');
  if (DATABASE_URL !== undefined && addresses.includes(DATABASE_URL))
    wrong('EXPORT', 'names the database of `DATABASE_URL`, which has the rows already');
};

/** Hosts that take no plain webhook, and what stands before their addresses. */
const PREFIXES: Readonly<Record<string, string>> = {
  'hooks.slack.com': 'slack+https://',
  'ntfy.sh': 'ntfy://',
};

/** Checks the settings of notifications against each other. */
const checkNotify: Check = (given, { wrong, missing }) => {
  const { NOTIFY, NOTIFY_EVENTS, NOTIFY_SECRET } = given;
  if (NOTIFY === undefined) {
    for (const name of ['NOTIFY_EVENTS', 'NOTIFY_SECRET'] as const)
      if (given[name] !== undefined) wrong(name, 'is for `NOTIFY`, which is missing');
    return;
  }
  if (NOTIFY_EVENTS === undefined) missing('NOTIFY_EVENTS', kinds.events.words);
  const addresses = kinds.notify.fits(NOTIFY) ? kinds.notifyAddressesOf(NOTIFY) : [];
  for (const { kind, url } of addresses) {
    const { host } = new URL(url);
    const prefix = kind === 'webhook' && PREFIXES[host];
    if (prefix)
      wrong('NOTIFY', `has an address of ${host} that must begin with \`${prefix}${host}/\``);
  }
  const { has, lacks } = listOfProjects(given);
  for (const pattern of kinds.events.fits(NOTIFY_EVENTS) ? kinds.listOf(NOTIFY_EVENTS!) : []) {
    const [project = ''] = pattern.split('/');
    if (!project.includes('*') && !has(project))
      wrong('NOTIFY_EVENTS', `names the project "${project}", ${lacks}`);
  }
  if (new Set(addresses.map(({ name }) => name)).size < addresses.length)
    wrong('NOTIFY', 'names an address twice');
  if (NOTIFY_SECRET === undefined && addresses.some(({ kind }) => kind === 'webhook'))
    missing('NOTIFY_SECRET', `${kinds.notifySecrets.words}: \`NOTIFY\` has a webhook`);
};

/** The settings of these names. Throws a TypeError that names each wrong one. */
const read = (
  environment: NodeJS.ProcessEnv,
  names: readonly SettingName[],
  together?: Check,
): Environment => {
  const given = readEnvironment(environment, names, SECRETS);
  // An empty setting has nothing to hide. An address may be wrong because of a password in it, so it is not shown.
  const isShown = (name: SettingName) =>
    given[name] === '' || (!SETTINGS[name].isSecret && name !== 'SERVICE_URL');
  checkOptions<Environment>('wrong settings', given, {
    kinds: SETTINGS as Kinds<Environment>,
    required:
      given.SERVICE_URL === undefined ? [] : names.filter((name) => SETTINGS[name].isNeeded),
    shown: names.filter(isShown),
    together: (ours, check) => {
      checkMeaning(ours, check);
      checkExports(ours, check);
      together?.(ours, check);
    },
  });
  return given;
};

const DAY_MS = 86_400_000;
const ifGiven = <Value>(
  value: string | undefined,
  read: (value: string) => Value,
): Value | undefined => (value === undefined ? undefined : read(value));

/** The settings for a service. Times are in milliseconds. */
const serviceOf = (given: Environment) => ({
  baseUrl: given.SERVICE_URL!,
  token: given.SERVICE_TOKEN!,
  rate: ifGiven(given.SERVICE_RATE, kinds.rateOf),
  concurrency: ifGiven(given.CONCURRENCY, Number),
  timeout: ifGiven(given.TIMEOUT_SECONDS, (seconds) => Number(seconds) * 1_000),
  idempotencyKey: given.IDEMPOTENCY_KEYS !== 'off',
  maxAge: ifGiven(given.MAX_AGE_DAYS, (days) => Number(days) * DAY_MS),
});

/** The settings for storing records. */
const storeOf = ({ DATA_FOLDER: folder = 'analytics-data', ...given }: Environment) => ({
  /** Folder for the tokens that the program makes, and for the database if no other is named. */
  folder,
  databaseUrl: given.DATABASE_URL ?? `file:${folder}/rows.db`,
  /** Without them the program makes one, for all projects. */
  writeTokens: ifGiven(given.WRITE_TOKENS, kinds.writeTokensOf),
  readToken: given.READ_TOKEN,
  /** With them nothing is open without a token. */
  readTokens: ifGiven(given.READ_TOKENS, kinds.readTokensOf),
  retentionDays: ifGiven(given.RETENTION_DAYS, Number),
  /** Addresses of the targets that are filled. */
  exports: kinds.wordsOf(given.EXPORT ?? ''),
});

/** Where messages about rows go; undefined without `NOTIFY`. */
const notifyOf = (given: Environment): NotifyOptions | undefined =>
  ifGiven(given.NOTIFY, (addresses) => ({
    addresses: kinds.notifyAddressesOf(addresses),
    secrets: kinds.notifySecretsOf(given.NOTIFY_SECRET ?? ''),
    events: kinds.listOf(given.NOTIFY_EVENTS!),
    publicUrl: given.PUBLIC_URL,
  }));

const placesOf = (given: Environment) => ({
  /** With it the program passes records on. */
  service: given.SERVICE_URL === undefined ? undefined : serviceOf(given),
  /** It passes records on while their senders wait, and stores none. */
  keepsNothing: given.DATA_FOLDER === NONE,
  store: storeOf(given),
});

/**
 * The settings of the program that serves. Throws a TypeError that names every setting that is missing or wrong.
 * @param say called with hints that are no errors
 */
export const readSettings = (
  environment: NodeJS.ProcessEnv,
  say: (line: string) => void = () => {},
) => {
  refuseGone(environment);
  tellMisspelt(environment, NAMES, SECRETS, OTHER_NAMES, say);
  const given = read(environment, NAMES, (ours, check) => {
    checkTokens(ours, check);
    checkNotify(ours, check);
  });
  return {
    ...placesOf(given),
    /** With it rows with `notify` become messages. */
    notify: notifyOf(given),
    /** Where pages and people reach the program. */
    publicUrl: given.PUBLIC_URL,
    /** Without them pages on this machine may send. */
    origins: ifGiven(given.SITE_ORIGIN, kinds.listOf),
    projects: kinds.namesOf(given.PROJECTS ?? '*'),
    channels: kinds.namesOf(given.CHANNELS ?? '*'),
    host: given.HOST ?? '127.0.0.1',
    /** Without it the first free port from 8787 on. */
    port: ifGiven(given.PORT, Number),
    adminPort: ifGiven(given.ADMIN_PORT, Number),
    addressHeader: given.CLIENT_ADDRESS_HEADER,
    trustedProxies: ifGiven(given.TRUSTED_PROXIES, kinds.proxiesOf),
    rateLimit: ifGiven(given.RATE_LIMIT, kinds.rateOf),
    ceiling: ifGiven(given.CEILING, kinds.rateOf),
    ignoreAddresses: ifGiven(given.IGNORE_ADDRESSES, kinds.listOf),
    gpc: given.GPC as 'keep' | 'drop' | undefined,
  };
};

/** The settings of the commands `import` and `export`: those of the database and the targets. */
export const readPlaces = (environment: NodeJS.ProcessEnv) => {
  const places = placesOf(read(environment, ['DATABASE_URL', 'DATA_FOLDER', 'EXPORT']));
  if (places.keepsNothing) throw new Error('`DATA_FOLDER` is `none`: the program keeps no rows');
  return places;
};

/** The settings that the command `tail` needs. */
export const readTailSettings = (environment: NodeJS.ProcessEnv) =>
  storeOf(read(environment, ['DATA_FOLDER', 'READ_TOKEN']));

/** The settings that the command `notify` needs. Throws if there is nobody to notify. */
export const readNotifySettings = (environment: NodeJS.ProcessEnv): NotifyOptions => {
  const names = ['NOTIFY', 'NOTIFY_EVENTS', 'NOTIFY_SECRET', 'PUBLIC_URL'] as const;
  const notify = notifyOf(read(environment, names, checkNotify));
  if (!notify) throw new Error('`NOTIFY` is missing: it says where messages go');
  return notify;
};

/** Reads the service's token again, since its file may have changed. */
export const readServiceToken = (environment: NodeJS.ProcessEnv): string =>
  read(environment, ['SERVICE_URL', 'SERVICE_TOKEN']).SERVICE_TOKEN!;

/** How to log. A wrong value is reported by `readSettings`, which needs a log to do so. */
export const readLogFormat = ({ LOG_FORMAT }: NodeJS.ProcessEnv): LogFormat =>
  LOG_FORMAT === 'json' ? 'json' : 'text';

/** Options of the server whose settings have other names. */
const NAME_OF: Readonly<Record<string, SettingName>> = {
  baseUrl: 'SERVICE_URL',
  token: 'SERVICE_TOKEN',
  origins: 'SITE_ORIGIN',
};

/** A message of the server in which options, such as `retentionDays`, have the names of their settings. */
export const inSettings = (message: string): string =>
  message.replace(/`(\w+)`/g, (quoted, option: string) => {
    const name = option.replace(/[A-Z]/g, '_$&').toUpperCase();
    return NAME_OF[option] ?? (Object.hasOwn(SETTINGS, name) ? name : quoted);
  });

export type ServiceSettings = ReturnType<typeof serviceOf>;
export type Places = ReturnType<typeof placesOf>;
export type Settings = ReturnType<typeof readSettings>;
