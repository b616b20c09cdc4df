/** A profile of more characters is a large one. */
export const LARGE_PROFILE = 16_384;

/**
 * Bounds of one profile. Without them a stranger could let a profile grow for ever, and each identify reads and writes
 * all of it. An identify that would break a bound becomes a dead letter with these words. One that does not make the
 * profile larger passes.
 */
export const PROFILE_LIMITS = {
  /** Of the properties as JSON. The words also name the table's constraint, so its error message has them. */
  characters: { most: 262_144, words: 'a profile may have 262,144 characters at the most' },
  properties: { most: 1_000, words: 'a profile may have 1,000 properties at the most' },
} as const;
