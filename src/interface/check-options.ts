import type { Kind } from './kinds.js';
import { nearest } from './near.js';

/** How messages speak of options. */
export interface OptionWords {
  /** The option as a message writes it. */
  formOf: (name: string) => string;
  /** What a message says of a wrong value, if anything: it may be a secret. */
  notThis: (name: string, value: unknown) => string;
  /** What a misspelt name may have been meant for. */
  names: readonly string[];
}

/**
 * Checks each option that is given, and collects what is wrong, so that one error can tell all of it.
 * Each message begins with `source`, which names whose options they are.
 */
export const checkOptions = (
  source: string,
  options: unknown,
  kinds: Readonly<Record<string, Kind>>,
  { formOf, notThis, names }: OptionWords,
) => {
  if (typeof options !== 'object' || !options) {
    throw new TypeError(`${source}: expected an object of options`);
  }
  // Neither object has a prototype, since some scripts give every object more keys.
  const given: Record<string, unknown> = { __proto__: null };
  const problems = { __proto__: null } as unknown as Record<string, string>;

  const wrong = (name: string, problem: string): void => {
    problems[name] ??= `option ${formOf(name)} ${problem}`; // one problem for each option is enough
  };

  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const kind = Object.hasOwn(kinds, name) && kinds[name];
    if (kind) {
      if (!kind.fits(value)) wrong(name, `must be ${kind.words}${notThis(name, value)}`);
      given[name] = value;
    } else {
      const meant = nearest(name, names);
      wrong(name, `does not exist${meant ? `: did you mean ${formOf(meant)}?` : ''}`);
      // The option that was meant counts as given, so that it is not called missing as well.
      given[meant ?? name] ??= value;
    }
  }

  return {
    given,
    wrong,
    missing: (name: string, words = kinds[name]!.words): void =>
      wrong(name, `is missing: give ${words}`),
    /** Throws a TypeError if anything is wrong, with a line for each option. */
    throwAny: (): void => {
      const lines = Object.values(problems);
      if (lines.length) throw new TypeError(`${source}: ${lines.join('\n')}`);
    },
  };
};

export type OptionCheck = ReturnType<typeof checkOptions>;
