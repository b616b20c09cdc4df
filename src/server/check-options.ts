import { callback, isFunction, type Kind } from '../interface/kinds.js';
import { nearest } from '../util/near.js';
import type { Hooks } from './hooks.js';

/** The kind of each option. The compiler sees to it that none is forgotten. */
export type Kinds<Options> = Readonly<Record<keyof Options & string, Kind>>;

interface OptionList<Options> {
  kinds: Kinds<Options>;
  required?: readonly (keyof Options & string)[];
  /** Options whose wrong value may be shown. Any other might be a token. @default none */
  shown?: readonly string[];
  /** Checks options that depend on each other. */
  together?: (given: Partial<Options>, check: OptionCheck) => void;
}

/** Notes what is wrong with an option. Only the first problem of each is kept. */
export interface OptionCheck {
  wrong: (name: string, problem: string) => void;
  missing: (name: string, words: string) => void;
}

/**
 * Throws a TypeError that names each wrong option and what to write. Each message begins with `caller`, the name of the
 * function that takes the options.
 */
export const checkOptions = <Options extends object>(
  caller: string,
  options: Options,
  { kinds, required = [], shown = [], together }: OptionList<Options>,
): void => {
  if (typeof options !== 'object' || !options) {
    throw new TypeError(`${caller}: expected an object of options`);
  }
  // Maps, since some scripts add keys to every object.
  const given = new Map<string, unknown>();
  const problems = new Map<string, string>();
  const known: Readonly<Record<string, Kind>> = kinds;

  const wrong = (name: string, problem: string): void => {
    if (!problems.has(name)) problems.set(name, `option \`${name}\` ${problem}`);
  };
  const missing = (name: string, words: string): void => wrong(name, `is missing: give ${words}`);

  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    // The option that was meant counts as given, so that it is not reported as missing, too.
    const meant = kind ? name : nearest(name, Object.keys(known));
    if (!kind) wrong(name, `does not exist${meant ? `: did you mean \`${meant}\`?` : ''}`);
    else if (!kind.fits(value))
      wrong(name, `must be ${kind.words}${shown.includes(name) ? notWords(value) : ''}`);
    if (kind || !given.has(meant ?? name)) given.set(meant ?? name, value);
  }
  for (const name of required) if (!given.has(name)) missing(name, kinds[name].words);
  together?.(Object.fromEntries(given) as Partial<Options>, { wrong, missing });
  if (problems.size) throw new TypeError(`${caller}: ${[...problems.values()].join('\n')}`);
};

/** The beginning of a wrong value, for a message. */
const notWords = (value: unknown): string => `, not ${JSON.stringify(String(value).slice(0, 100))}`;

export const count: Kind = {
  words: 'a whole number from 1',
  fits: (value) => Number.isSafeInteger(value) && (value as number) > 0,
};

export const objectWith = (...methods: readonly string[]): Kind => ({
  words: `an object with ${methods.join(', ')}`,
  fits: (value) => methods.every((name) => isFunction((value as Record<string, unknown>)?.[name])),
});

export const HOOK_KINDS: Kinds<Hooks> = {
  onMetric: callback,
  onError: callback,
  onRecovery: callback,
};
