import type { CaptureOptions, VitalsLabels } from './types.js';

/**
 * What the script tag asks for, as options that are not checked, or undefined where it asks for nothing.
 * @param data `auto` has names of options that are true, `autoOptions` the name of a global object of options
 * @param webVitals what is in the file
 */
export const readAuto = (
  { auto, autoOptions }: DOMStringMap,
  globals: Record<string, unknown>,
  webVitals: VitalsLabels,
): CaptureOptions | undefined => {
  if (auto === undefined && autoOptions === undefined) return undefined;
  const options: Record<string, unknown> = {};
  for (const word of auto?.match(/\S+/g) ?? []) options[word] = true;
  if (autoOptions) {
    const more = Object.hasOwn(globals, autoOptions) && globals[autoOptions];
    if (Object(more) !== more) {
      throw new TypeError('data-auto-options: no object');
    }
    Object.assign(options, more);
  }
  const { vitals } = options;
  if (vitals) options['vitals'] = vitals === true ? webVitals : { ...webVitals, ...vitals };
  return options;
};
