/**
 * Whether a text may stand where an icon stands: one sign, or the few of an emoji. A word may be sent as an icon, too,
 * but it would be cut to pieces there.
 */
export const isIcon = (text: string): boolean => /^(?:[^\p{L}]{1,12}|.)$/u.test(text);
