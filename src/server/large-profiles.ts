import { createRateLimit } from './http/admission.js';
import type { Written } from './store/port.js';
import { PROFILE_LIMITS } from './profile-limit.js';

/** Characters of large profiles that the identifies of one client may have the store write. */
const OF_CLIENT = { perSecond: 1_048_576, burst: 16 * 1_048_576 };
/** A dead letter counts as the largest profile: such a profile was read in vain, and the whole record is kept. */
const DEAD = PROFILE_LIMITS.characters.most;

const costOf = (written: Written): number => {
  if (written.outcome === 'dead') return DEAD;
  return (written.outcome === 'stored' && written.profile) || 0;
};

/**
 * Charges a client for the large profiles that it writes to: for an identify of a few bytes the store reads and writes
 * the whole profile, which may be a thousand times as large. An identify that breaks a bound of its profile becomes a
 * dead letter. Without this charge a stranger could make so many of these that the dead letters of others are deleted.
 */
export const createLargeProfiles = (now: () => number, isLimited: boolean) => {
  const limit = createRateLimit(OF_CLIENT, now);
  return {
    /** Milliseconds until identifies of this client are taken; 0 if the client is not known. */
    waitMs: (client: string | undefined): number => (client && isLimited ? limit(client, 0) : 0),
    charge: (client: string | undefined, written: Written): void => {
      const cost = costOf(written);
      if (client && cost) limit(client, cost);
    },
  };
};

export type LargeProfiles = ReturnType<typeof createLargeProfiles>;
