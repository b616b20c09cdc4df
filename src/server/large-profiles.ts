import { createRateLimit } from './http/admission.js';
import type { Written } from './store/port.js';
import { PROFILE_LIMITS } from './profile-limit.js';

/** Characters of large profiles that one client may have written: in a second, and at once. */
const OF_CLIENT = { perSecond: 1_048_576, burst: 16 * 1_048_576 };
/** A dead record counts as the largest profile: that was read in vain, and the record is kept whole for people. */
const DEAD = PROFILE_LIMITS.characters.most;

const costOf = (written: Written): number => {
  if (written.outcome === 'dead') return DEAD;
  return (written.outcome === 'stored' && written.profile) || 0;
};

/**
 * Charges a client for the large profiles that it writes to. An identify of a few bytes has the store read and write all
 * of the profile, which may have a thousand times as many. Where it breaks a bound of the profile it is kept as a dead
 * letter, of which a stranger could otherwise make so many that those of others go.
 */
export const createLargeProfiles = (now: () => number, isLimited: boolean) => {
  const limit = createRateLimit(OF_CLIENT, now);
  return {
    /** Milliseconds until the identifies of a client are taken; 0 for one that is not known. */
    waitMs: (client: string | undefined): number => (client && isLimited ? limit(client, 0) : 0),
    charge: (client: string | undefined, written: Written): void => {
      const cost = costOf(written);
      if (client && cost) limit(client, cost);
    },
  };
};

export type LargeProfiles = ReturnType<typeof createLargeProfiles>;
