import { TOKEN_WORDS } from '../interface/is-token.js';
import { fit, rangesOf, type NumberName } from '../client/options.js';
import type { Options } from '../client/types.js';
import { inDigits } from '../show/times.js';
import { nearest } from '../util/near.js';
import { didYouMean } from './meant.js';
import { show } from './show.js';

const ADDRESS = 'an absolute http(s) URL without user, query or spaces';

/** Parts that `data-context` may name. */
const PARTS = ['page', 'campaign', 'device', 'session'];
const PART = new RegExp(`^(${PARTS.join('|')})(:(memory|tab|persistent))?$`);

const GLOBAL = '(on the tag: the name of a global one, defined above the tag)';
const [TEXT, NUMBER, FLAG] = ['a non-empty string', 'a number of ', 'true or false'];
const [RECORDS, MS, BYTES] = [`${NUMBER}records`, `${NUMBER}ms`, `${NUMBER}bytes`];
const FUNCTION = `a function ${GLOBAL}`;

/** What the value of each option must be, in words. */
const WORDS: Readonly<Record<keyof Options, string>> = {
  baseUrl: ADDRESS,
  token: `${TOKEN_WORDS}, or a function`,
  relay: 'a path such as "/a", or an absolute http(s) URL',
  project: TEXT,
  channel: TEXT,
  flushAt: RECORDS,
  flushInterval: MS,
  concurrency: `${NUMBER}requests`,
  timeout: MS,
  maxAge: MS,
  maxRecords: RECORDS,
  maxBytes: BYTES,
  maxRecordBytes: BYTES,
  idempotencyKey: FLAG,
  respectGpc: FLAG,
  consent: 'granted, pending or denied',
  context: `an object or a function ${GLOBAL}, or parts: ${PARTS.join(' ')}`,
  beforeSend: FUNCTION,
  onDrop: FUNCTION,
  onError: FUNCTION,
  disabled: FLAG,
  debug: FLAG,
  fetch: FUNCTION,
  now: FUNCTION,
};

/** Options that are refused together with `relay`. It has them itself, and tells repeats by the ids of records. */
const OF_THE_RELAY = /^(baseUrl|token|idempotencyKey)$/;

/** Attributes that only `outbox-auto.js` reads, beside the options. */
export const OF_AUTO = ['auto', 'autoOptions', 'anonymousId'];
/** The options, and attributes of the tag beside them. */
const ATTRIBUTES = [...Object.keys(WORDS), 'global', 'inspect', ...OF_AUTO];

export const attributeOf = (name: string): string =>
  `data-${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`;
/** An option by its two names, for `init` and for the tag. */
const formOf = (name: string): string => `\`${name}\` (${attributeOf(name)})`;

/** What is wrong with a text in place of tags, if it is not simply unknown. */
const contextWords = (text: string): string | undefined => {
  const wrong = text.split(/\s+/).filter((word) => !PART.test(word));
  if (!wrong.length)
    return `has the parts ${show(text)}, which this file lacks: load outbox-auto.js`;
  const meant = didYouMean(wrong[0]!.replace(/:.*/, ''), PARTS);
  return meant && `has no part ${show(wrong[0])}: ${meant}`;
};

/** The option, or the attribute, that was misspelt for each of these names. */
const meantBy = (names: string[]): string[] =>
  names.flatMap((name) => (ATTRIBUTES.includes(name) ? [] : (nearest(name, ATTRIBUTES) ?? [])));

/** A wrong value. A token is a secret, so only its wrong characters are shown. */
const shown = (name: string, value: unknown): string =>
  show(name === 'token' && typeof value === 'string' ? value.replace(/[!-~]+/g, '…') : value);

/**
 * What is wrong with the options of `init`, a line for each, with its fix; empty if nothing is.
 * @param names those that are wrong or missing, as the tracker has found
 * @param dataset the tag's attributes, as they were written
 */
export const optionsProblem = (
  given: unknown,
  names: readonly string[],
  dataset: DOMStringMap = {},
): string => {
  if (Object(given) !== given)
    return typeof given === 'string'
      ? '`init` takes one object: write init({ baseUrl, token, project, channel })'
      : 'expected an object of options';
  const options = given as Record<string, unknown>;
  const wrong = new Set(names);
  // That it is missing was told with the misspelt name.
  for (const name of meantBy([...Object.keys(options), ...Object.keys(dataset)]))
    if (options[name] === undefined) wrong.delete(name);

  const problemOf = (name: string): string => {
    const value = options[name];
    if (!Object.hasOwn(WORDS, name)) {
      return `does not exist: ${didYouMean(name, ATTRIBUTES, formOf) || 'leave it out'}`;
    }
    const words = WORDS[name as keyof Options];
    if (value === undefined)
      return `is missing: give ${words}${name === 'baseUrl' ? ', or `relay` in its place' : ''}`;
    if (options['relay'] && OF_THE_RELAY.test(name))
      return 'does not go with `relay`: leave it out';
    if (name === 'context' && typeof value === 'string') {
      const words = contextWords(value.trim());
      if (words) return words;
    }
    if (name === 'token' && /^bearer\s/i.test(value as string))
      return 'begins with `Bearer`, which is added to it: give the token alone';
    const written = Number.isNaN(value) ? (dataset[name] ?? value) : value;
    return `must be ${words}, not ${shown(name, written)}`;
  };

  return [...wrong].map((name) => `option ${formOf(name)} ${problemOf(name)}`).join('\n');
};

/** What is less than this is obeyed, and was probably meant in another unit. */
const LITTLE: Partial<Record<NumberName, number>> = {
  flushInterval: 50,
  maxBytes: 1_000,
  maxRecordBytes: 1_000,
};

/** What is wrong with a name that was given, if anything: with a space behind it, it is another one. */
export const spaceAround = (what: string, text: unknown): string[] =>
  typeof text === 'string' && text.trim() !== text
    ? [`${what} ${show(text)}, with white space around it: leave that out`]
    : [];

/**
 * Numbers outside of their range, and texts of the tag's switches that say neither on nor off: the default is used. And
 * what counts, though something else was probably meant.
 */
export const doubtsOf = (options: Partial<Options>, dataset: DOMStringMap = {}): string[] => [
  ...Object.entries(rangesOf(options)).flatMap(([key, range]) => {
    const name = key as NumberName;
    const given = options[name];
    const used = fit(given, range);
    if (given === undefined) return [];
    const unit = WORDS[name].replace(NUMBER, '');
    if (given === used)
      return used < LITTLE[name]!
        ? `\`${name}\` is ${inDigits(used)} ${unit}, which is very little: check the unit`
        : [];
    const words = `${inDigits(range[1])} to ${inDigits(range[2])} ${unit}`;
    return `\`${name}\` is ${inDigits(given)} ${unit}; it must be ${words}; ${inDigits(used)} is used`;
  }),
  ...(['project', 'channel'] as const).flatMap((name) =>
    spaceAround(`\`${name}\` is`, options[name]),
  ),
  ...(options.channel?.includes(',')
    ? [`\`channel\` is ${show(options.channel)}: give only one`]
    : []),
  ...(['baseUrl', 'relay'] as const).flatMap((name) => {
    const [end] = /\/v1(\/\w+)?\/*$/.exec(options[name] ?? '') ?? [];
    return end ? `\`${name}\` ends with ${end}, which is added to it: leave it out` : [];
  }),
  ...Object.entries(dataset).flatMap(([name, text]) =>
    WORDS[name as keyof Options] === FLAG && !/^(true|false)?$/.test(text!)
      ? `\`${attributeOf(name)}\` is ${show(text)}: write true or false; it counts as not given`
      : [],
  ),
];

/** What to write here for attributes of other tools, where one tag was made of another. */
const INSTEAD: Readonly<Record<string, string>> = {
  domain: 'data-project',
  websiteId: 'data-project',
  site: 'data-project',
  hostUrl: 'data-base-url',
  api: 'data-relay',
  autoTrack: 'data-auto',
  events: 'data-auto',
  doNotTrack: 'data-respect-gpc',
  sampleRate: 'data-before-send',
  userId: '`identify(id)`',
};

/** What is wrong with the names of the tag's attributes: `data-` and what follows, as the page has them. */
export const misspelt = (dataset: DOMStringMap): string[] =>
  Object.keys(dataset).flatMap((name) => {
    const own = INSTEAD[name];
    const meant = own ? `write ${own}` : didYouMean(name, ATTRIBUTES, attributeOf);
    return meant ? [`the tag has no attribute ${attributeOf(name)}: ${meant}`] : [];
  });

/**
 * Attributes that were meant for the tag and do not begin with `data-`. A handler of HTML, such as `onerror`, has code
 * in it, and our callbacks are named.
 */
export const withoutData = (attributes: Iterable<Attr>): string[] =>
  [...attributes].flatMap(({ name, value }) => {
    const isOther = name.startsWith('data-') || (name.startsWith('on') && /\W/.test(value));
    // A sign before it, which does not count as a letter, since a name is not near to itself.
    const meant = isOther ? undefined : nearest(`-${name}`, ATTRIBUTES);
    return meant ? [`the tag has the attribute ${name}: write ${attributeOf(meant)}`] : [];
  });
