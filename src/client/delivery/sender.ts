import type { OutboxRecord, Token } from '../types.js';
import type { Verdict } from '../../interface/outcome.js';
import type { TokenSource } from '../../interface/token.js';
import type { Carrier } from './carrier.js';

/** What an attempt came to. */
export interface Attempt extends Verdict {
  retryAfterMs: number;
  /** What the developer is to look at: who has refused it, or that nothing answers. */
  problem: string;
  /** Refused for a token that is no longer in use, or has to be asked for again: it says nothing else. */
  isStale?: boolean;
  /** `blocked`, since the relay does not list a value of this record: it says nothing about other records. */
  isUnlisted?: boolean;
}

/** What one request takes. */
export interface Capacity {
  records: number;
  /** Bytes of the whole request. */
  bytes: number;
  /** Bytes that a record weighs beside its body, at the most: as if it had a request of its own. */
  bytesPerRecord: number;
}

export interface Manner {
  /** Bytes of the whole request, or a few more. */
  size: number;
  /** It outlives the page. */
  keepalive: boolean;
}

/** A way to a destination. */
export interface Sender extends Omit<Carrier, 'post' | 'give'> {
  capacity: Capacity;
  /** Browsers ask another origin before its first request, and remember the answer. */
  hasPreflight?: boolean;
  /** Without one that is known nothing can be sent. Missing where none is needed. */
  token?: Pick<TokenSource, 'get' | 'ask'>;
  /**
   * Starts one request before it returns: nothing is awaited first. Resolves with an attempt for each
   * record, in their order; or with one for all, where the request as a whole came to that. `undefined`: the page
   * was left before the answer, and the browser may go on with it.
   */
  send: (
    records: readonly OutboxRecord[],
    manner: Manner,
  ) => Promise<Attempt | Attempt[] | undefined>;
}

/** What a sender needs from outside. */
export interface SenderEffects {
  settings: () => {
    baseUrl?: string | undefined;
    token?: Token | undefined;
    relay?: string | undefined;
    idempotencyKey?: boolean | undefined;
    timeout: number;
    /** In place of the global one. */
    fetch?: typeof fetch;
  };
  now: () => number;
  /** Begins to watch; tells later whether the page has been left meanwhile. */
  watchDeparture: () => () => Promise<boolean>;
  /** The page has said that it goes away: no answer will be heard. */
  isGoing: () => boolean;
  /** Gives the browser a POST to send whatever becomes of the page; false where it takes none. */
  beacon: (url: string, body: string) => boolean;
}

export type CreateSender = (effects: SenderEffects) => Sender;
