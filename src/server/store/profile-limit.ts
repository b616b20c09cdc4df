/**
 * Bound of one profile as JSON. A stranger who knows a write token could let it grow for ever, and each identify reads
 * and writes all of it. The identify that would break the bound is a dead letter; the words name the constraint, so
 * that its reason can be read there.
 */
export const PROFILE_LIMIT = {
  characters: 262_144,
  words: 'a profile may have 262,144 characters at the most',
} as const;
