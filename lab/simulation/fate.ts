import type { DropReason, RecordType } from './client.js';
import type { Excuse } from './excuses.js';

/** One request, as the world saw it. */
export interface Attempt {
  page: string;
  destination: string;
  ids: string[];
  keepalive: boolean;
  startedAt: number;
  /** Its page was hidden, so it did not wait until the database named the request. */
  isHidden: boolean;
  /** Records of it that the service has stored. */
  stored: Set<string>;
  /** Outcomes that its first record had when the request started. */
  reports: number;
  /**
   * How it ended for its page: `answered`; `failed` while the page lived; `left` with the page, in good
   * order; `killed` with the page.
   */
  end: 'answered' | 'failed' | 'left' | 'killed' | undefined;
  endedAt: number;
}

/** What became of one record. */
export interface Fate {
  id: string;
  name: string;
  type: RecordType;
  user: string | undefined;
  destination: string;
  /** Page that made it, and its place among all calls of the world. */
  page: string;
  place: number;
  madeAt: number;
  attempts: Attempt[];
  /** How often it is in the service's database. */
  stored: number;
  /** Outcomes that pages have reported of it. */
  reports: number;
  delivered: number;
  unknown: number;
  dropped: DropReason[];
  /** The service has refused it. */
  isRefused: boolean;
  /** One of its requests was a handoff. */
  isHandedOff: boolean;
  /** The browser has refused to keep a request of it alive; a page that leaves may never hear of that. */
  isOverBudget: boolean;
  /** Page that has the record in memory when no store has it. */
  keeper: string;
  /** Which page reported an outcome of it, and when. */
  claims: { page: string; at: number }[];
  /** What took the last copy of it, which no page could have prevented. */
  lostBy: Excuse | undefined;
}

/** Something has become of it: there is nothing left to do. */
export const isResolved = ({ stored, unknown, dropped, lostBy }: Fate): boolean =>
  stored + unknown + dropped.length > 0 || lostBy !== undefined;

export const nameOf = ({ name, page }: Fate): string => `${name} of ${page}`;

/** Every page that has sent it, and the one that made it. */
export const pagesOf = ({ page, attempts }: Fate): Set<string> =>
  new Set([page, ...attempts.map((attempt) => attempt.page)]);
