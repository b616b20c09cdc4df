import type { Tell } from '../client/analytics.js';
import { errorText } from './delivery.js';
import { mayFail } from '../util/may-fail.js';
import type {
  Analytics,
  DeliveryError,
  Listeners,
  Options,
  OutboxRecord,
} from '../client/types.js';

/** A record of this page that has not come to its end. */
export interface Unfinished {
  record: OutboxRecord;
  /** When its request started, while that has no answer. */
  sentAt?: number | undefined;
}

/** What is asked of a tracker. */
export type Tracked = Pick<Analytics, 'status' | 'on' | 'flush'>;

/** One instance as it is now. It keeps no log: what has come to its end is forgotten. */
export interface Watched {
  /** The name of the tag's global, or of the package where it is imported. */
  name: string;
  analytics: Tracked;
  tag?: HTMLScriptElement | null;
  /** The options of the last `init`, as they were given, and how many there were. */
  options?: Partial<Options> | undefined;
  inits: number;
  /** The instance tells its steps. One of a build for production has its events alone. */
  isTold: boolean;
  /** What was wrong last with delivery, and what to do. */
  error?: string | undefined;
  /** By id. */
  unfinished: Map<string, Unfinished>;
  /** Called with each step, after it is noted. */
  followers: Set<Tell>;
}

/** A panel that is open. */
export interface Panel {
  into: Element | undefined;
  focus: () => void;
  close: () => void;
}

interface Page {
  watched: Set<Watched>;
  isOffered?: boolean;
  panel?: Panel | undefined;
}

/** What all scripts of the page share: the tag's files and an import have no module in common. */
export const ofPage = (): Page =>
  ((globalThis as Record<symbol, unknown>)[Symbol.for('analytics-outbox inspector')] ??= {
    watched: new Set(),
  } satisfies Page) as Page;

export const createWatched = (name: string, analytics?: Tracked, isTold = true): Watched => ({
  name,
  analytics: analytics!,
  isTold,
  inits: 0,
  unfinished: new Map(),
  followers: new Set(),
});

type Detail = Partial<Listeners['drop'] & Listeners['outcome'] & Listeners['consent']>;

/** Notes a step of the instance. */
export const note = (watched: Watched, what: string, detail: unknown): void => {
  const { unfinished, followers } = watched;
  const { record = detail as OutboxRecord, outcome, consent } = (detail ?? {}) as Detail;
  if (what === 'tag') watched.tag = detail as HTMLScriptElement | null;
  if (what === 'init') {
    watched.options = detail as Partial<Options>;
    watched.inits++;
  }
  if (what === 'error')
    watched.error = mayFail(() => errorText(detail as DeliveryError, watched.options!));
  // A call that was dropped since then has told no record.
  if (consent === 'denied') unfinished.clear();
  if (what === 'sent') unfinished.set(record.id, { record, sentAt: Date.now() });
  else if (what === 'record' || /^(retry|blocked)$/.test(outcome!))
    unfinished.set(record.id, { record });
  else unfinished.delete(record?.id);
  for (const follow of followers) mayFail(() => follow(what, detail));
};
