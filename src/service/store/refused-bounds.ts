/** How many refused requests are kept. Anybody can make more of them. */
export const MAX_REFUSED = 1_000;
/** How many dead records are kept. They are counted apart, since they can be sent again. */
export const MAX_DEAD = 10_000;
/** How many characters are kept of what was sent. */
export const MAX_REFUSED_BODY = 4_096;
