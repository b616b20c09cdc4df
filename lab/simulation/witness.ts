/** A time at which a page was frozen or in the back/forward cache. */
export interface Pause {
  from: number;
  to: number;
  isCached: boolean;
  /** Destinations whose records it could store as it began. */
  stored: ReadonlySet<string>;
}

/** What the judge can see of pages from outside. */
export interface Witness {
  now: () => number;
  /** The receiver knows repeats, so a record that may have arrived is sent again. */
  resends: boolean;
  isRunning: (page: string) => boolean;
  /** It was killed, frozen, put into the back/forward cache, or left between these times. */
  wasStoppedBetween: (page: string, from: number, to: number) => boolean;
  /** It was killed, frozen, or put into the back/forward cache between these times. */
  wasCutShortBetween: (page: string, from: number, to: number) => boolean;
  /** It has been frozen or put into the back/forward cache since then. */
  hasPausedSince: (page: string, time: number) => boolean;
  /** The times at which it was frozen or in the back/forward cache since then. */
  pausesSince: (page: string, time: number) => Pause[];
  /** A write that the page began after this time is stored, and with it all that it wrote before. */
  hasWrittenSince: (page: string, time: number) => boolean;
}
