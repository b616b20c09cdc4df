/** Characters from which on a profile is a large one. */
export const LARGE_PROFILE = 16_384;

/**
 * Bounds of one profile. A stranger who knows a write token could let it grow for ever, and each identify reads and
 * writes all of it. The identify that would break a bound is a dead letter with these words; one that makes no profile
 * larger passes.
 */
export const PROFILE_LIMITS = {
  /** As JSON. The words are the name of a constraint, so that the reason can be read in the database's message. */
  characters: { most: 262_144, words: 'a profile may have 262,144 characters at the most' },
  properties: { most: 1_000, words: 'a profile may have 1,000 properties at the most' },
} as const;
