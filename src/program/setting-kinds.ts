import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { messageOf } from '../interface/errors.js';
import { isText, type Kind } from '../interface/kinds.js';
import { nearest } from '../interface/near.js';
import { isOrigin } from '../server/http/origin.js';
import type { Names, Rate } from '../relay.js';
import type { TrustedProxies } from './client-address.js';

/** A setting of a program. */
export interface Setting extends Kind {
  /** What it is for, as `--help` says it. */
  help: string;
}

export const listOf = (value: string): string[] => value.split(',').map((item) => item.trim());

/** The names of a list with commas, or `*` for any, as the options of a relay take them. */
export const namesOf = (value: string): Names =>
  listOf(value).includes('*') ? '*' : listOf(value);

export const list: Kind = {
  words: 'names with commas between them, such as "shop,blog", or "*" for any',
  fits: (value) => isText(value) && listOf(value).every(isText),
};
export const origins: Kind = {
  words: 'origins of your pages with commas between them, such as "https://shop.example"',
  fits: (value) => isText(value) && listOf(value).every(isOrigin),
};
export const queueStore: Kind = {
  words: 'the address of a Redis ("redis://localhost:6379") or of a folder ("file:/var/lib/relay")',
  // A shell replaces `~` at the start of a word only. Behind `file:` it would become a folder of that name.
  fits: (value) => typeof value === 'string' && /^(rediss?:\/\/|file:(?!~))\S(.*\S)?$/.test(value),
};
export const port: Kind = {
  words: 'a port number',
  fits: (value) => /^\d{1,5}$/.test(String(value)) && Number(value) < 65_536,
};
const RATE = /^(\d+(?:\.\d+)?)\/(\d+)$/;
export const rate: Kind = {
  words: 'records a second, a slash and records at once, such as "100/1000", or "off"',
  fits: (value) => {
    const [, perSecond, burst] = RATE.exec(String(value)) ?? [];
    return value === 'off' || (Number(perSecond) > 0 && Number(burst) > 0);
  },
};
export const rateOf = (value: string | undefined): Rate | false | undefined => {
  if (!value) return undefined;
  const [, perSecond, burst] = RATE.exec(value) ?? [];
  return value !== 'off' && { perSecond: Number(perSecond), burst: Number(burst) };
};
export const wholeNumber: Kind = {
  words: 'a whole number from 1',
  fits: (value) => /^[1-9]\d{0,14}$/.test(String(value)),
};
export const amount: Kind = {
  words: 'a number above 0',
  fits: (value) => /^\d+(\.\d+)?$/.test(String(value)) && Number(value) > 0,
};
export const numberOf = (value: string | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);
export const onOff: Kind = {
  words: '"on" or "off"',
  fits: (value) => value === 'on' || value === 'off',
};
const HOPS = /^[1-9]$/;
const isNetwork = (value: string): boolean => {
  const [address = '', bits = '0', more] = value.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  return isIP(address) > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most && more === undefined;
};
export const proxies: Kind = {
  words:
    'the number of proxies in front, or their addresses and networks with commas between them, such as "10.0.0.0/8"',
  fits: (value) => isText(value) && (HOPS.test(value) || listOf(value).every(isNetwork)),
};
export const proxiesOf = (value: string | undefined): TrustedProxies | undefined =>
  (value && (HOPS.test(value) ? Number(value) : listOf(value))) || undefined;
export const header: Kind = {
  words: 'the name of a header, such as "x-real-ip"',
  fits: (value) => /^[\w!#$%&'*+.^`|~-]+$/.test(String(value)),
};
export const logFormat: Kind = {
  words: '"text" or "json"',
  fits: (value) => value === 'text' || value === 'json',
};

/** A line for each setting, for `--help`. */
export const linesOf = (settings: Readonly<Record<string, Setting>>): string[] =>
  Object.entries(settings).map(([name, { help }]) => `  ${name.padEnd(22)} ${help}`);

/**
 * Of an environment what has one of these names and is not empty. A name in `inFiles` may also be given as the path of a
 * file that has the value, under the same name with `_FILE`: that is how secrets reach a container.
 */
export const readEnvironment = <Name extends string>(
  environment: NodeJS.ProcessEnv,
  names: readonly Name[],
  inFiles: readonly Name[] = [],
): Partial<Record<Name, string>> => {
  const read = (name: Name): string | undefined => {
    const given = environment[name] || undefined;
    const path = inFiles.includes(name) ? environment[`${name}_FILE`] : undefined;
    if (!path) return given;
    if (given !== undefined)
      throw new Error(`wrong settings: \`${name}\` and \`${name}_FILE\`: give one of the two`);
    try {
      const value = readFileSync(path, 'utf8').trim();
      if (!value) throw new Error('the file is empty');
      return value;
    } catch (error) {
      throw new Error(`wrong settings: \`${name}_FILE\`: ${messageOf(error)}`, { cause: error });
    }
  };
  const pairs = names.map((name) => [name, read(name)] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) as Partial<
    Record<Name, string>
  >;
};

/**
 * Calls `say` for each variable whose name is nearly that of a setting which is not given. It may be another program's,
 * so it is no error.
 */
export const tellMisspelt = (
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
  inFiles: readonly string[],
  say: (line: string) => void,
): void => {
  const known = [...names, ...inFiles.map((name) => `${name}_FILE`)];
  for (const [name, value] of Object.entries(environment)) {
    const meant = value && !known.includes(name) ? nearest(name, known) : undefined;
    if (meant && !environment[meant]) say(`\`${name}\` is no setting: did you mean \`${meant}\`?`);
  }
};
