import type { Consent, Options } from '../types.js';
import { checkOptions } from '../../interface/check-options.js';
import {
  isFunction,
  isHttpUrl,
  positive,
  text,
  token,
  url,
  type Kind,
} from '../../interface/kinds.js';
import { nearest } from '../../interface/near.js';
import { BATCH_RECORDS } from '../../interface/wire.js';
import type { Form } from './forms.js';

const relay: Kind = {
  words: 'a path that begins with one slash, such as "/a", or an absolute http(s) URL',
  fits: (value) =>
    typeof value === 'string' && (/^\/(?!\/)[^?#\s\\]*$/.test(value) || isHttpUrl(value)),
};
const flag: Kind = {
  words: 'true or false (on the tag also 1, 0, yes, no, on, off)',
  fits: (value) => typeof value === 'boolean',
};
const callback: Kind = {
  words: 'a function (on the tag: the name of a global one)',
  fits: isFunction,
};
export const isConsent = (value: unknown): value is Consent =>
  ['granted', 'pending', 'denied'].includes(value as string);

const context: Kind = {
  words: 'an object or a function (on the tag: the name of a global one)',
  fits: (value) => Object(value) === value,
};
const consent: Kind = { words: 'granted, pending or denied', fits: isConsent };

/** The one list of options. `init` checks them by it, and the script tag reads its `data-` attributes by it. */
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
  respectGpc: flag,
  consent,
  context,
  beforeSend: callback,
  onDrop: callback,
  onError: callback,
  disabled: flag,
  debug: flag,
  fetch: callback,
  now: callback,
};

const REQUIRED = ['project', 'channel'] as const;

export const DEFAULTS = {
  flushAt: 20,
  flushInterval: 1_000,
  concurrency: 6,
  timeout: 30_000,
  maxAge: 604_800_000,
  maxRecords: 10_000,
  maxBytes: 5_000_000,
  maxRecordBytes: 60_000,
} satisfies Partial<Options>;

/** The options with defaults filled in and the relay's whole address. With `disabled`, required ones may be missing. */
export type Settings = Options &
  typeof DEFAULTS & {
    /** Whether a record that may have arrived is sent again: to a relay, or to a service with `idempotencyKey`. */
    resends: boolean;
  };

/** A longer timer ends at once: https://html.spec.whatwg.org/#timers takes a 32-bit integer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const optionNames = Object.keys(REGISTRY) as (keyof Options)[];

/** The names that the tag has an attribute for. */
const attributeNames: readonly string[] = [...optionNames, 'global'];

/** An option by its two names, for `init` and for the tag. */
const formOf = (name: string): string =>
  `\`${name}\` (data-${name.replace(/[A-Z]/g, '-$&').toLowerCase()})`;

/** Fills in the defaults, or throws a TypeError that names every wrong option and its fix. */
export const resolveOptions = (options: Options, pageAddress: string, form: Form): Settings => {
  const check = checkOptions('analytics-outbox', options, REGISTRY, {
    formOf,
    notThis,
    names: attributeNames,
  });
  const { given } = check;
  const settings: Record<string, unknown> = { __proto__: null, ...DEFAULTS, ...given };
  // A request with fewer records would cost as much as one with a full batch.
  if (given.relay) settings.flushAt = given.flushAt ?? BATCH_RECORDS;
  if (!settings.disabled) {
    form(settings, pageAddress, check);
    for (const name of REQUIRED) if (!(name in settings)) check.missing(name);
  }
  check.throwAny();
  const resolved = settings as unknown as Settings;
  for (const name of ['timeout', 'flushInterval'] as const) {
    resolved[name] = Math.min(resolved[name], LONGEST_TIMER_MS);
  }
  resolved.concurrency = Math.ceil(resolved.concurrency);
  resolved.resends = !!(resolved.relay ?? resolved.idempotencyKey);
  return resolved;
};

/** Shows the wrong value. A token is a secret, so only its wrong characters are shown. */
const notThis = (name: string, value: unknown): string => {
  const shown =
    typeof value === 'string'
      ? `"${name === 'token' ? value.replace(/[!-~]+/g, '…') : value}"`
      : Object(value) === value
        ? typeof value
        : String(value);
  return `, not ${shown}`;
};

/** The value that the text of a `data-` attribute means. A text that means none stays, and `init` refuses it. */
const parse = (kind: Kind, text: string, globals: Record<string, unknown>): unknown => {
  if (kind === positive) return Number(text) || text;
  if (kind === callback || kind === context) return globals[text] ?? text;
  if (kind !== flag) return text;
  return /^(true|1|yes|on)?$/i.test(text) || (/^(false|0|no|off)$/i.test(text) ? false : text);
};

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
      options[name] = parse(REGISTRY[name as keyof Options], value, globals);
    } else if (nearest(name, attributeNames)) options[name] = value;
  }
  return options as Partial<Options>;
};
