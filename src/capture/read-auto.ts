import { nearest } from '../interface/near.js';
import { KINDS } from './autocapture.js';
import type { CaptureOptions, VitalsLabels } from './types.js';

interface Given {
  /** The value of `data-auto`: names of features. */
  words: string | undefined;
  /** The value of `data-auto-options`: the name of a global object of options. */
  name: string | undefined;
  globals: Record<string, unknown>;
  /** What is in the file. */
  webVitals: VitalsLabels;
}

/** What the script tag asks for, as options, or undefined where it asks for nothing. */
export const readAuto = ({
  words,
  name,
  globals,
  webVitals,
}: Given): CaptureOptions | undefined => {
  if (words === undefined && name === undefined) return undefined;
  const options: Record<string, unknown> = {};
  for (const word of words?.match(/\S+/g) ?? []) options[word] = true;
  if (name) {
    const more = Object.hasOwn(globals, name) && globals[name];
    if (Object(more) !== more) {
      throw new TypeError(`data-auto-options: no global object is called \`${name}\``);
    }
    Object.assign(options, more);
  }
  for (const [word, value] of Object.entries(options)) {
    if (word === 'map' ? typeof value === 'function' : KINDS.includes(word)) continue;
    const meant = nearest(word, KINDS);
    const hint = meant ? `did you mean \`${meant}\`?` : `expected some of ${KINDS.join(' ')}`;
    throw new TypeError(`data-auto: \`${word}\` does not exist: ${hint}`);
  }
  const { vitals } = options;
  if (vitals) options['vitals'] = vitals === true ? webVitals : { ...webVitals, ...vitals };
  return options;
};
