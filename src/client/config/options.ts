import type { Consent, Options } from '../types.js';
import { nearest } from '../../interface/near.js';
import { BATCH_RECORDS } from '../../interface/wire.js';
import { createComplaints, formsOf } from './complain.js';
import type { Form } from './forms.js';
import { isToken, TOKEN_WORDS } from '../../interface/is-token.js';

/** What a value must be: the words of the error, the check, and how a `data-` attribute becomes one. */
interface Kind {
  words: string;
  fits: (value: unknown) => boolean;
  parse: (text: string, globals: Record<string, unknown>) => unknown;
}

const asIs = (text: string): unknown => text;

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isFunction = (value: unknown): boolean => typeof value === 'function';

/** An address that a path can be added to: a query or a fragment would swallow it; `fetch` refuses a user. */
const isHttpUrl = (value: unknown): boolean => {
  try {
    const { protocol, username, password } = new globalThis.URL(value as string);
    return (
      typeof value === 'string' &&
      /^https?:$/.test(protocol) &&
      !/[?#\s]/.test(value) &&
      !username &&
      !password
    );
  } catch {
    return false;
  }
};

const text: Kind = { words: 'a non-empty string', fits: isText, parse: asIs };
const url: Kind = {
  words: 'an absolute http(s) URL without user, query or spaces',
  fits: isHttpUrl,
  parse: asIs,
};
const token: Kind = {
  words: `${TOKEN_WORDS}, or a function`,
  fits: (value) => isToken(value) || isFunction(value),
  parse: asIs,
};
const isRelay = (value: unknown): boolean =>
  typeof value === 'string' && (/^\/(?!\/)[^?#\s\\]*$/.test(value) || isHttpUrl(value));

const relay: Kind = {
  words: 'a path that begins with one slash, such as "/a", or an absolute http(s) URL',
  fits: isRelay,
  parse: asIs,
};
const positive: Kind = {
  words: 'a positive, finite number',
  fits: (value) => Number.isFinite(value) && (value as number) > 0,
  // What is no number is refused as it was written.
  parse: (value) => Number(value) || value,
};
const flag: Kind = {
  words: 'true or false (on the tag also 1, 0, yes, no, on, off)',
  fits: (value) => typeof value === 'boolean',
  parse: (value) =>
    /^(true|1|yes|on)?$/i.test(value) || (/^(false|0|no|off)$/i.test(value) ? false : value),
};
const callback: Kind = {
  words: 'a function (on the tag: the name of a global one)',
  fits: isFunction,
  parse: (name, globals) => globals[name] ?? name,
};
export const isConsent = (value: unknown): value is Consent =>
  typeof value === 'string' && /^(granted|pending|denied)$/.test(value);

const consent: Kind = {
  words: 'granted, pending or denied',
  fits: isConsent,
  parse: asIs,
};

/** The one list of options: `init` checks by it, the script tag reads its `data-` attributes by it. */
const REGISTRY: Record<keyof Options, Kind> = {
  baseUrl: url,
  token,
  relay,
  project: text,
  channel: text,
  flushAt: positive,
  flushInterval: positive,
  concurrency: positive,
  timeout: positive,
  maxAge: positive,
  maxRecords: positive,
  maxBytes: positive,
  maxRecordBytes: positive,
  idempotencyKey: flag,
  consent,
  beforeSend: callback,
  onDrop: callback,
  onError: callback,
  disabled: flag,
  debug: flag,
  fetch: callback,
  now: callback,
};

const REQUIRED = ['project', 'channel'] as const;

type Defaulted =
  | 'flushAt'
  | 'flushInterval'
  | 'concurrency'
  | 'timeout'
  | 'maxAge'
  | 'maxRecords'
  | 'maxBytes'
  | 'maxRecordBytes';

/** Options with their defaults filled in, and the relay's address whole. */
export type Settings = Options & Required<Pick<Options, Defaulted>>;

export const DEFAULTS: Required<Pick<Options, Defaulted>> = {
  flushAt: 20,
  flushInterval: 1_000,
  concurrency: 6,
  timeout: 30_000,
  maxAge: 604_800_000,
  maxRecords: 10_000,
  maxBytes: 5_000_000,
  maxRecordBytes: 60_000,
};

/** A longer timer ends at once: https://html.spec.whatwg.org/#timers takes a 32-bit integer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const optionNames = Object.keys(REGISTRY) as (keyof Options)[];

/** Those, and what else the tag has an attribute for. */
const attributeNames: readonly string[] = [...optionNames, 'global'];

/** Fills in the defaults, or throws a TypeError that names every wrong option and its fix. */
export const resolveOptions = (options: Options, pageAddress: string, form: Form): Settings => {
  if (typeof options !== 'object' || !options) {
    throw new TypeError('analytics.init: expected an object of options');
  }
  const complaints = createComplaints();
  const { wrong, missing } = complaints;
  // Without a prototype: some scripts give every object more keys.
  const settings: Record<string, unknown> = { __proto__: null, ...DEFAULTS };
  // A flush of fewer would cost a request as well.
  if (options.relay) settings.flushAt = BATCH_RECORDS;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(REGISTRY, name)) {
      const meant = nearest(name, attributeNames);
      wrong(name, `does not exist${meant ? `: did you mean ${formsOf(meant)}?` : ''}`);
      // Counts as given, so that it is not called missing as well.
      settings[meant ?? name] ??= value;
      continue;
    }
    const kind = REGISTRY[name as keyof Options];
    if (!kind.fits(value)) wrong(name, `must be ${kind.words}, not ${describe(name, value)}`);
    settings[name] = value;
  }
  if (!settings.disabled) {
    form(settings, pageAddress, complaints);
    for (const name of REQUIRED) if (!(name in settings)) missing(name, REGISTRY[name].words);
  }
  complaints.throwAny();
  const resolved = settings as unknown as Settings;
  for (const name of ['timeout', 'flushInterval'] as const) {
    resolved[name] = Math.min(resolved[name], LONGEST_TIMER_MS);
  }
  resolved.concurrency = Math.ceil(resolved.concurrency);
  return resolved;
};

/** Of a token only the characters that are wrong: the rest is for no console. */
const describe = (name: string, value: unknown): string =>
  typeof value === 'string'
    ? `"${name === 'token' ? value.replace(/[!-~]+/g, '…') : value}"`
    : value && /object|function/.test(typeof value)
      ? typeof value
      : String(value);

/**
 * Reads options from `data-` attributes (`dataset` has them in camelCase already). An attribute that looks like
 * a misspelt option is passed on as it is, for `init` to refuse; the other attributes belong to others.
 */
export const readAttributes = (
  dataset: Record<string, string | undefined>,
  globals: Record<string, unknown>,
): Partial<Options> => {
  const options: Record<string, unknown> = {};
  for (const [name, value = ''] of Object.entries(dataset)) {
    if (Object.hasOwn(REGISTRY, name)) {
      options[name] = REGISTRY[name as keyof Options].parse(value, globals);
    } else if (name !== 'global' && nearest(name, attributeNames)) options[name] = value;
  }
  return options as Partial<Options>;
};
