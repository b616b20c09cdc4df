import { BATCH_RECORDS } from '../interface/wire.js';
import type { Tell } from './analytics.js';
import type { Options } from './types.js';

import { isToken } from '../interface/is-token.js';

type Check = (value: unknown) => boolean;

export const isText: Check = (value) => /\S/.test(value as string) && typeof value === 'string';
/** Paths are added to it, so there is no query; and `fetch` refuses one with a user. */
export const isUrl: Check = (value) => /^https?:\/\/[^?#\s@]+$/.test(value as string);
export const isNumber: Check = (value) => typeof value === 'number' && value === value;
export const isFunction: Check = (value) => typeof value === 'function';
export const isFlag: Check = (value) => typeof value === 'boolean';
export const isConsent: Check = (value) => /^(granted|pending|denied)$/.test(value as string);
export const isContext: Check = (value) => Object(value) === value;

/** The one list of options: `init` checks them by it, and the tag reads its attributes by it. */
export const OPTIONS: Readonly<Record<keyof Options, Check>> = {
  baseUrl: isUrl,
  token: (value) => isFunction(value) || isToken(value),
  relay: (value) => /^\/(?!\/)[^?#\s\\]*$/.test(value as string) || isUrl(value),
  project: isText,
  channel: isText,
  flushAt: isNumber,
  flushInterval: isNumber,
  concurrency: isNumber,
  timeout: isNumber,
  maxAge: isNumber,
  maxRecords: isNumber,
  maxBytes: isNumber,
  maxRecordBytes: isNumber,
  idempotencyKey: isFlag,
  respectGpc: isFlag,
  consent: isConsent,
  context: isContext,
  beforeSend: isFunction,
  onDrop: isFunction,
  onError: isFunction,
  disabled: isFlag,
  debug: isFlag,
  fetch: isFunction,
  now: isFunction,
};

/** An option that is a number: outside of the range, the usual value is used. A timer takes less than 2^31. */
type Range = readonly [usual: number, least: number, most: number];

/** The one table of numbers: developers are told by it, too. */
export const rangesOf = ({ relay }: Partial<Options>) => ({
  flushAt: [relay ? BATCH_RECORDS : 20, 1, 1e9] as Range, // fewer would cost as many requests
  flushInterval: [1_000, 1, 1e9] as Range,
  concurrency: [6, 1, 100] as Range,
  timeout: [30_000, 1_000, 600_000] as Range,
  maxAge: [604_800_000, 60_000, 1e11] as Range, // fewer are days or hours
  maxRecords: [10_000, 1, 1e9] as Range,
  maxBytes: [5_000_000, 1, 1e9] as Range,
  maxRecordBytes: [60_000, 1, 1e9] as Range,
});
export type NumberName = keyof ReturnType<typeof rangesOf>;

/** The value that is used for the one that was given. */
export const fit = (value: number | undefined, [usual, least, most]: Range): number =>
  value! >= least && value! <= most ? value! : usual;

/** The options with their defaults, and the relay's whole address. */
export type Settings = Options &
  Record<NumberName, number> & {
    /** Whether a record that may have arrived is sent again: to a relay, or to a service with `idempotencyKey`. */
    resends: boolean;
  };

/**
 * The name of a destination, which begins the names of all that is stored for it: address and project, never the token.
 * The same address is one destination as a relay and another as a service, since only records for a relay may be sent
 * again.
 */
export const nameOf = ({ relay, baseUrl = '', project }: Settings): string =>
  ['analytics-outbox', relay ? `relay:${relay}` : baseUrl, project].map(encodeURI).join(' ');

/** The names of options that are wrong or missing. */
export const problemsOf = (given: Options, mayBeDirect: boolean): string[] => {
  const has = (name: keyof Options) => given[name] !== undefined;
  const names = (Object.keys(given) as (keyof Options)[]).filter(has);
  const wrong = names.filter(
    (name) =>
      !(OPTIONS as Partial<typeof OPTIONS>)[name]?.(given[name]) ||
      (given.relay && /^(baseUrl|token|idempotencyKey)$/.test(name)),
  );
  const target = given.relay || !mayBeDirect ? ['relay'] : ['baseUrl', 'token'];
  const needed = given.disabled ? [] : ['project', 'channel', ...target];
  return [...wrong, ...needed.filter((name) => !has(name as keyof Options))];
};

/**
 * The options with their defaults.
 * @param tell is told the options and which of them are wrong or missing, before these are refused
 * @throws TypeError with the names of these.
 */
export const resolveOptions = (
  options: Options,
  base: string,
  mayBeDirect: boolean,
  tell?: Tell,
): Settings => {
  const settings = { ...options } as Settings;
  const wrong = problemsOf(settings, mayBeDirect);
  tell?.('init', options, wrong);
  const trim = (address: string) => address.replace(/\/+$/, '');
  // By hand: a page may have a constant of its own called `URL`.
  const relay = settings.relay && trim(`${settings.relay}`.replace(/^\//, `${base}/`));
  if (relay && !wrong.length && !isUrl(relay)) wrong.push('relay');
  if (wrong.length) throw new TypeError(`analytics-outbox: wrong or missing: ${wrong}`);
  for (const [name, range] of Object.entries(rangesOf(settings)))
    settings[name as NumberName] = fit(settings[name as NumberName], range);
  if (relay) settings.relay = relay;
  if (settings.baseUrl) settings.baseUrl = trim(settings.baseUrl);
  settings.resends = !!(relay || settings.idempotencyKey);
  return settings;
};

/** The value that the text of a `data-` attribute means. */
const parse = (check: Check, text: string, globals: Record<string, unknown>): unknown => {
  if (check === isNumber) return Number(text);
  if (check === isFunction || check === isContext) return globals[text] ?? text;
  if (check !== isFlag) return text;
  return text === 'false' ? false : /^(true)?$/.test(text) || undefined;
};

/** Reads options from `data-` attributes (`dataset` has them in camelCase). Other attributes belong to others. */
export const readAttributes = (
  dataset: DOMStringMap,
  globals: Record<string, unknown>,
): Partial<Options> =>
  Object.fromEntries(
    Object.entries(dataset)
      .filter(([name]) => name in OPTIONS)
      .map(([name, text]) => [name, parse(OPTIONS[name as keyof Options], text!, globals)]),
  );
