import { fit, rangesOf, type NumberName } from '../../client/options.js';
import type { Options } from '../../client/types.js';
import type { Watched } from '../watched.js';

export interface OptionRow {
  name: string;
  value: string;
  /** Where it comes from: `the tag`, `init`, or `default`. */
  origin: string;
}

/** The usual values; nothing for options of a form that may not be used. */
const USUAL: Record<Exclude<keyof Options, NumberName>, string> = {
  baseUrl: '',
  token: '',
  relay: '',
  project: 'missing',
  channel: 'missing',
  consent: 'granted',
  idempotencyKey: '',
  respectGpc: 'false',
  context: 'none',
  beforeSend: 'none',
  onDrop: 'none',
  onError: 'none',
  disabled: 'false',
  debug: 'false',
  fetch: 'fetch',
  now: 'Date.now',
};

/** The value of an option in words. A token is a secret, which people paste into issues with a picture of this. */
const shown = (name: string, value: unknown): string =>
  name === 'token' ? 'given' : Object(value) === value ? `a ${typeof value}` : `${value as string}`;

/** Each option, with its value and where that comes from. Those that were given come first. */
export const optionRows = ({ options, tag, inits }: Watched): OptionRow[] => {
  if (!options) return []; // not told, or not started
  const ranges: Record<string, Parameters<typeof fit>[1]> = rangesOf(options);
  const rows = Object.keys({ ...USUAL, ...ranges }).map((name): OptionRow => {
    const given = options[name as keyof Options] as unknown;
    const range = ranges[name];
    const usual = range ? `${range[0]}` : USUAL[name as 'now'];
    if (given === undefined) return { name, value: usual, origin: 'default' };
    return {
      name,
      // Out of its range, a number is not used.
      value: range ? `${fit(given as number, range)}` : shown(name, given),
      origin: inits === 1 && tag?.dataset[name] !== undefined ? 'the tag' : 'init',
    };
  });
  const isUsual = ({ origin }: OptionRow) => +(origin === 'default');
  return rows.filter(({ value }) => value).sort((a, b) => isUsual(a) - isUsual(b));
};
