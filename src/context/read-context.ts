import { anonymousId } from './anonymous-id.js';
import { campaign } from './campaign.js';
import { combine } from './combine.js';
import { device } from './device.js';
import { page } from './page.js';
import { session } from './session.js';
import type { Instance, Keep, Part } from './types.js';

const PARTS: Readonly<Record<string, (keep?: Keep) => Part>> = { page, campaign, device, session };

interface Given {
  /** The value of `data-context`: parts, such as `page session:persistent`, or the name of a global. */
  context?: string;
  /** The value of `data-anonymous-id`: `persistent`, or else the tab's. */
  anonymousId?: string;
}

/** The part that a word such as `page` or `session:persistent` stands for. */
const partOf = (word: string): Part[] => {
  const [, name = '', keep] = /^(\w+)(?::(memory|tab|persistent))?$/.exec(word) ?? [];
  return Object.hasOwn(PARTS, name) ? [PARTS[name]!(keep as Keep | undefined)] : [];
};

/** A global's own tags, as a part. */
const partOfGlobal =
  (context: object): Part =>
  () =>
  (known) =>
    (typeof context === 'function'
      ? (context as (known: unknown) => unknown)(known)
      : context) as object;

/**
 * The options of a tag, with the context that its attributes ask for. Where `data-context` is neither a list of
 * parts nor the name of a global, it stays as it is, for `init` to refuse.
 */
export const readContext = <Options extends { context?: unknown }>(
  analytics: Instance,
  { context = '', anonymousId: keep }: Given,
  options: Options,
): Options => {
  const words = context.match(/\S+/g) ?? [];
  let parts = words.flatMap(partOf);
  if (parts.length < words.length) {
    if (Object(options.context) !== options.context) return options;
    parts = [partOfGlobal(options.context as object)];
  }
  if (keep !== undefined) parts.push(anonymousId(keep === 'persistent' ? keep : 'tab'));
  return parts.length ? { ...options, context: combine(analytics, ...parts) } : options;
};
