import type { Consent, Options } from '../types.js';
import { BATCH_RECORDS } from '../wire.js';
import { missing, wrong } from './complain.js';
import type { Form } from './forms.js';

/** What a value must be: the words of the error, the check, and how a `data-` attribute becomes one. */
interface Kind {
  words: string;
  fits: (value: unknown) => boolean;
  parse: (text: string, globals: Record<string, unknown>) => unknown;
}

const asIs = (text: string): unknown => text;

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const isFunction = (value: unknown): boolean => typeof value === 'function';

const isHttpUrl = (value: unknown): boolean => {
  try {
    return typeof value === 'string' && /^https?:$/.test(new URL(value).protocol);
  } catch {
    return false;
  }
};

const text: Kind = { words: 'a non-empty string', fits: isText, parse: asIs };
const url: Kind = { words: 'an absolute http(s) URL', fits: isHttpUrl, parse: asIs };
const token: Kind = {
  words: 'a non-empty string or a function',
  fits: (value) => isText(value) || isFunction(value),
  parse: asIs,
};
/** A query or a fragment would swallow the path that is added. */
const isRelay = (value: unknown): boolean =>
  typeof value === 'string' &&
  !/[?#\s]/.test(value) &&
  (/^\/(?!\/)/.test(value) || isHttpUrl(value));

const relay: Kind = {
  words: 'a path that begins with one slash, such as "/a", or an absolute http(s) URL',
  fits: isRelay,
  parse: asIs,
};
const positive: Kind = {
  words: 'a positive, finite number',
  fits: (value) => Number.isFinite(value) && (value as number) > 0,
  parse: Number,
};
const flag: Kind = {
  words: 'true or false',
  fits: (value) => typeof value === 'boolean',
  parse: (value) => value !== 'false',
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

/** Fills in the defaults, or throws a TypeError that names the option and the fix. */
export const resolveOptions = (options: Options, pageAddress: string, form: Form): Settings => {
  if (typeof options !== 'object' || !options) {
    throw new TypeError('analytics.init: expected an object of options');
  }
  const settings: Record<string, unknown> = { ...DEFAULTS };
  // A flush of fewer would cost a request as well.
  if (options.relay) settings.flushAt = BATCH_RECORDS;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(REGISTRY, name)) wrong(name, 'does not exist');
    const kind = REGISTRY[name as keyof Options];
    if (!kind.fits(value)) wrong(name, `must be ${kind.words}, not ${describe(value)}`);
    settings[name] = value;
  }
  if (!settings.disabled) {
    form(settings, pageAddress);
    for (const name of REQUIRED) if (!(name in settings)) missing(name, REGISTRY[name].words);
  }
  const resolved = settings as unknown as Settings;
  for (const name of ['timeout', 'flushInterval'] as const) {
    resolved[name] = Math.min(resolved[name], LONGEST_TIMER_MS);
  }
  resolved.concurrency = Math.ceil(resolved.concurrency);
  return resolved;
};

const describe = (value: unknown): string =>
  typeof value === 'string'
    ? `"${value}"`
    : value && /object|function/.test(typeof value)
      ? typeof value
      : String(value);

/** Reads options from `data-` attributes (`dataset` has them in camelCase already). */
export const readAttributes = (
  dataset: Record<string, string | undefined>,
  globals: Record<string, unknown>,
): Partial<Options> => {
  const options: Record<string, unknown> = {};
  for (const name of optionNames) {
    const value = dataset[name];
    if (value !== undefined) options[name] = REGISTRY[name].parse(value, globals);
  }
  return options as Partial<Options>;
};
