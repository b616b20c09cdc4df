import { storableText } from './storable.js';

/**
 * What is kept of what was refused, at the most. Beyond it the oldest go. Dead records are counted apart, so that
 * strangers, whose requests are refused as often as they like, cannot push them out.
 */
export const MAX_REFUSED = 1_000;
export const MAX_DEAD = 10_000;
/** Characters of all dead records together. */
export const MAX_DEAD_SIZE = 64 * 1_048_576;
/** Characters of the message of each, which may name what a stranger sent, and of the body. */
export const MAX_REFUSED_TEXT = 4_096;

/** A text as it is kept. */
export const refusedText = (text: string): string => storableText(text.slice(0, MAX_REFUSED_TEXT));
