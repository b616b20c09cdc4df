import { storableText } from './storable.js';

/**
 * How many refused are kept. Beyond that the oldest are deleted. Dead records have a bound of their own, so that
 * strangers, who can have any number of requests refused, cannot push them out.
 */
export const MAX_REFUSED = 1_000;
export const MAX_DEAD = 10_000;
/** How many rows that one target has refused, or one reader has left out. */
export const MAX_OF_TARGET = 10_000;
/** Characters of all dead records together. */
export const MAX_DEAD_SIZE = 64 * 1_048_576;
/** Characters of a message, which may quote a stranger, and of a body. */
export const MAX_REFUSED_TEXT = 4_096;

/** A text as it is kept. */
export const refusedText = (text: string): string => storableText(text.slice(0, MAX_REFUSED_TEXT));
