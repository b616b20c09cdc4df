import { didYouMean } from './meant.js';
import type { Say } from './say.js';

/** The events of `on`. */
export const EVENTS = 'record sent outcome drop error storage consent reset'.split(' ');

/** Tells of a call of `on` for an event that there is not, or without a function. */
export const checkEvent = (type: string, listener: unknown, say: Say): void => {
  if (typeof listener !== 'function') say(`\`on\` of \`${type}\`: give a function second`);
  if (EVENTS.includes(type)) return;
  const meant = didYouMean(type, EVENTS) || `there are ${EVENTS.join(', ')}`;
  say(`\`on\` knows no event \`${type}\`: ${meant}`);
};
