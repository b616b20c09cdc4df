import type { CaptureOptions, VitalsLabels } from './types.js';

interface Given {
  /** The value of `data-auto`: names of options that are true. */
  words: string | undefined;
  /** The value of `data-auto-options`: the name of a global object of options. */
  name: string | undefined;
  globals: Record<string, unknown>;
  /** What is in the file. */
  webVitals: VitalsLabels;
}

/** What the script tag asks for, as options that are not checked, or undefined where it asks for nothing. */
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
  const { vitals } = options;
  if (vitals) options['vitals'] = vitals === true ? webVitals : { ...webVitals, ...vitals };
  return options;
};
