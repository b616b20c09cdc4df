import { fit, rangesOf } from '../../client/options.js';
import type { Watched } from '../watched.js';

export interface OptionRow {
  name: string;
  value: string;
  /** Where it comes from: `the tag` or `init`. */
  origin: string;
}

/** The value of an option in words. A token is a secret, which people paste into issues with a picture of this. */
const shown = (name: string, value: unknown): string =>
  name === 'token' ? 'given' : Object(value) === value ? `a ${typeof value}` : `${value as string}`;

/** Each option that was given, with its value and where that comes from. */
export const optionRows = ({ options = {}, tag, inits }: Watched): OptionRow[] => {
  const ranges: Record<string, Parameters<typeof fit>[1]> = rangesOf(options);
  return Object.entries(options)
    .filter(([, given]) => given !== undefined)
    .map(([name, given]: [string, unknown]) => ({
      name,
      // Out of its range, a number is not used.
      value: ranges[name] ? `${fit(given as number, ranges[name])}` : shown(name, given),
      origin: inits === 1 && tag?.dataset[name] !== undefined ? 'the tag' : 'init',
    }));
};
