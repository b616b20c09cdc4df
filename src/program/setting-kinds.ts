import { isText, url, type Kind } from '../interface/kinds.js';
import { isToken, TOKEN_WORDS } from '../interface/is-token.js';
import { isNetwork } from '../server/http/networks.js';
import { isOrigin, ORIGIN_WORDS } from '../server/http/origin.js';
import { isName } from '../server/relay-options.js';
import type { Names, Rate } from '../relay.js';
import { parseNotifyAddress, type NotifyAddress } from '../server/exports/notify-address.js';
import { isEventPattern } from '../server/exports/notify-events.js';
import { isWebhookSecret } from '../server/exports/notify-formats.js';
import { readToken } from '../server/service-options.js';
import type { ReadToken, WriteToken } from '../service.js';
import type { TrustedProxies } from './client-address.js';

/** The settings beside which another setting has a meaning. */
export type Place = 'without DATA_FOLDER=none' | 'with SERVICE_URL';

/** A setting of the program. */
export interface Setting extends Kind {
  /** Its line in `--help`. */
  help: string;
  /** Its default, in words. */
  usual?: string | undefined;
  isSecret?: boolean;
  isNeeded?: boolean;
  /** The settings beside which it has a meaning. Without them it is refused. @default everywhere */
  only?: Place | undefined;
}

export const listOf = (value: string): string[] => value.split(',').map((item) => item.trim());

/** The names of a list with commas, or `*` for any, as the options of a relay take them. */
export const namesOf = (value: string): Names =>
  listOf(value).includes('*') ? '*' : listOf(value);

export const list: Kind = {
  words:
    'names with commas between them, such as "shop,blog", or "*" for any; no name has a "*" or a space',
  fits: (value) =>
    isText(value) &&
    listOf(value).every((name) => name === '*' || (isName(name) && !/\s/.test(name))),
};
export const origins: Kind = {
  words: `origins of your pages with commas between them, such as ${ORIGIN_WORDS}`,
  fits: (value) => isText(value) && listOf(value).every(isOrigin),
};
/** The page of the rows is at an address below this one. */
export const publicUrl: Kind = {
  words: `${url.words}: that of the program, without "/rows"`,
  fits: (value) => url.fits(value) && !/\/rows\/?$/.test(String(value)),
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
export const rateOf = (value: string): Rate | false => {
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
const oneOf = (one: string, other: string): Kind => ({
  words: `"${one}" or "${other}"`,
  fits: (value) => value === one || value === other,
});
export const onOff = oneOf('on', 'off');
export const keepOrDrop = oneOf('keep', 'drop');
export const logFormat = oneOf('text', 'json');
const HOPS = /^[1-9]$/;
export const proxies: Kind = {
  words:
    'the number of proxies in front, or their addresses and networks with commas between them, such as "10.0.0.0/8"',
  fits: (value) => isText(value) && (HOPS.test(value) || listOf(value).every(isNetwork)),
};
export const proxiesOf = (value: string): TrustedProxies =>
  HOPS.test(value) ? Number(value) : listOf(value);
export const networks: Kind = {
  words: 'addresses and networks with commas between them, such as "192.0.2.1,2001:db8::/48"',
  fits: (value) => isText(value) && listOf(value).every(isNetwork),
};
export const header: Kind = {
  words: 'the name of a header, such as "x-real-ip"',
  fits: (value) => /^[\w!#$%&'*+.^`|~-]+$/.test(String(value)),
};

export const token: Kind = { words: TOKEN_WORDS, fits: isToken };
/** How such signs of a password are written in an address. A message cannot show the address itself. */
const ENCODED = 'in a password, # is %23, / is %2F, ? is %3F, : is %3A and @ is %40';
/**
 * Whether an address can be read as it is meant: where a password has such a sign, its end and the `@` seem to be part of
 * the path. A Postgres on this machine needs no host.
 */
const isAddress = (value: string): boolean => {
  if (value.startsWith('file:')) return true;
  const withHost = value.replace('@/', '@host/');
  if (!URL.canParse(withHost)) return false;
  const { pathname, hash } = new URL(withHost);
  return !`${pathname}${hash}`.includes('@');
};
export const database: Kind = {
  words: `the address of a Postgres ("postgres://localhost/analytics") or of a file ("file:/var/lib/analytics/rows.db"); ${ENCODED}`,
  fits: (value) =>
    isText(value) && /^(postgres(ql)?:\/\/|file:(?!~))\S+$/.test(value) && isAddress(value),
};

/** Items with white space between them: an address may have a comma. */
export const wordsOf = (value: string): string[] => value.split(/\s+/).filter(Boolean);
export const exports: Kind = {
  words: `addresses with spaces between them, such as "clickhouse://user:password@host:8443/database", "postgres://user:password@host:5432/database" or "file:/var/lib/export"; ${ENCODED}`,
  fits: (value) =>
    isText(value) &&
    wordsOf(value).every(
      (word) => /^(clickhouse|file|postgres(ql)?):/.test(word) && isAddress(word),
    ),
};

const PAIR = /^([^=\s][^=]*)=(.+)$/;
/** The pairs of a project and its token. */
const pairsOf = (value: string): { project: string; token: string }[] =>
  listOf(value).map((pair) => {
    const [, project = '', token = ''] = PAIR.exec(pair) ?? [];
    return { project, token };
  });
export const writeTokens: Kind = {
  words:
    'pairs of a project and its token with commas between them, such as "shop=tok_1,blog=tok_2"; "*" is any project',
  fits: (value) =>
    isText(value) &&
    pairsOf(value).every(
      ({ project, token }) => (project === '*' || isName(project)) && isToken(token),
    ),
};
export const writeTokensOf = (value: string): WriteToken[] => {
  const byToken = new Map<string, Names>();
  for (const { project, token } of pairsOf(value)) {
    const known = byToken.get(token) ?? [];
    byToken.set(token, project === '*' || known === '*' ? '*' : [...known, project]);
  }
  return [...byToken].map(([token, projects]) => ({ token, projects }));
};
export const readTokens: Kind = {
  words:
    'pairs of a project and its token, of 16 characters or more, with commas between them, such as "shop=read-token-of-shop"; READ_TOKEN is for all projects',
  fits: (value) =>
    isText(value) &&
    pairsOf(value).every(({ project, token }) => isName(project) && readToken.fits(token)),
};
export const readTokensOf = (value: string): ReadToken[] => pairsOf(value);

export const notify: Kind = {
  words:
    'addresses with white space between them: "https://…" for a webhook, "ntfy://ntfy.sh/topic" or "slack+https://hooks.slack.com/…"; plain http ("http://", "ntfy+http://") is only for this machine',
  fits: (value) => isText(value) && wordsOf(value).every(parseNotifyAddress),
};
export const notifyAddressesOf = (value: string): NotifyAddress[] =>
  wordsOf(value).map((address) => parseNotifyAddress(address)!);
export const notifySecrets: Kind = {
  words:
    '"whsec_" and 24 to 64 bytes in base64, such as `echo whsec_$(openssl rand -base64 32)` makes; several with white space between them sign alike',
  fits: (value) => isText(value) && wordsOf(value).every(isWebhookSecret),
};
export const notifySecretsOf = wordsOf;
export const events: Kind = {
  words:
    'patterns project/channel/event with commas between them, such as "shop/orders/*", in which "*" is any text',
  fits: (value) => isText(value) && listOf(value).every(isEventPattern),
};
