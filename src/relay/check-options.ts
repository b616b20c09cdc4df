import { checkOptions as check, type OptionCheck } from '../interface/check-options.js';
import { callback, isFunction, type Kind } from '../interface/kinds.js';
import type { Hooks } from './hooks.js';

/** The kind of each option, tied to their type so that none is forgotten. */
export type Kinds<Options> = Readonly<Record<keyof Options & string, Kind>>;

interface OptionList<Options> {
  kinds: Kinds<Options>;
  required?: readonly (keyof Options & string)[];
  /** Checks what concerns several options. */
  together?: (given: Partial<Options>, check: OptionCheck) => void;
}

/** Throws a TypeError that names each wrong option and what to write. No value is shown: it may be the token. */
export const checkOptions = <Options extends object>(
  caller: string,
  options: Options,
  { kinds, required = [], together }: OptionList<Options>,
): void => {
  const complaints = check(caller, options, kinds, {
    formOf: (name) => `\`${name}\``,
    notThis: () => '',
    names: Object.keys(kinds),
  });
  for (const name of required) if (!(name in complaints.given)) complaints.missing(name);
  together?.(complaints.given as Partial<Options>, complaints);
  complaints.throwAny();
};

/** A number of things. */
export const count: Kind = {
  words: 'a whole number from 1',
  fits: (value) => Number.isSafeInteger(value) && (value as number) > 0,
};

/** An object with these methods. */
export const objectWith = (...methods: readonly string[]): Kind => ({
  words: `an object with ${methods.join(', ')}`,
  fits: (value) => methods.every((name) => isFunction((value as Record<string, unknown>)?.[name])),
});

export const HOOK_KINDS: Kinds<Hooks> = {
  onMetric: callback,
  onError: callback,
  onRecovery: callback,
};
/** Replaced by tests. */
export const CLOCK_KINDS = { now: callback, random: callback };
