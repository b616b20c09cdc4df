import { createRateLimit } from '../relay/front/admission.js';
import type { Written } from './store/port.js';

/** Characters of large profiles that one client may have written: in a second, and at once. */
const OF_CLIENT = { perSecond: 1_048_576, burst: 16 * 1_048_576 };

/**
 * Charges a client for the large profiles that it writes to. An identify of a few bytes has the store read and write all
 * of the profile, which may have a thousand times as many.
 */
export const createLargeProfiles = (now: () => number, isLimited: boolean) => {
  const limit = createRateLimit(OF_CLIENT, now);
  return {
    /** Milliseconds until the identifies of a client are taken; 0 for one that is not known. */
    waitMs: (client: string | undefined): number => (client && isLimited ? limit(client, 0) : 0),
    charge: (client: string | undefined, written: readonly Written[]): void => {
      const size = written.reduce((sum, one) => sum + (('profile' in one && one.profile) || 0), 0);
      if (client && size) limit(client, size);
    },
  };
};

export type LargeProfiles = ReturnType<typeof createLargeProfiles>;
