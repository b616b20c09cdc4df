import { openedWith, parametersOf } from '../capture/address.js';
import { kept } from './kept.js';
import type { Keep, Part } from './types.js';

type Touch = Record<string, string>;

/** Parameters of campaigns, and the ids that networks add to the links of their advertisements. */
const PARAMETERS = /^utm_|clk?id$|braid$/;

/**
 * The campaign that brought the visitor: its parameters as tags (`utm_source`, `gclid` …), and those of the first
 * campaign with `first_` before them. They are those of the address by which the page was opened.
 */
export const campaign = (keep: Keep = 'tab'): Part => {
  let first: Touch | undefined;
  let last: Touch | undefined;
  parametersOf(openedWith()).forEach((value, name) => {
    if (!PARAMETERS.test(name)) return;
    (last ??= {})[name] = (first ??= {})[`first_${name}`] = value;
  });
  return (analytics) => {
    const update = kept<{ first: Touch; last: Touch }>(analytics, 'campaign', keep);
    void analytics.on('reset', () => void (first = last = undefined));
    return () => {
      const touches = update((before) => ({ first, ...before, ...(last && { last }) }) as object);
      return { ...touches.first, ...touches.last };
    };
  };
};
