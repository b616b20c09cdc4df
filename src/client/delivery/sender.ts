import type { OutboxRecord, Token } from '../types.js';
import type { Verdict } from '../../interface/outcome.js';
import type { TokenSource } from '../../interface/token.js';
import type { Carrier } from './carrier.js';

/** What became of a record, or of a whole request, in one attempt. */
export interface Attempt extends Verdict {
  /** The wait that the service has asked for; 0 for none. */
  retryAfterMs: number;
  /** What the developer has to look at if it failed. */
  problem: string;
  /** Refused for a token that is no longer in use, or has to be asked for again: it says nothing else. */
  isStale?: boolean;
  /** `blocked`, since the relay does not list a value of this record: it says nothing about other records. */
  isUnlisted?: boolean;
}

/** How much one request can take. */
export interface Capacity {
  records: number;
  /** Bytes of the whole request. */
  bytes: number;
  /** Bytes that a record takes beside its body, at most: those of a request with this record alone. */
  bytesPerRecord: number;
}

export interface Manner {
  /** Bytes of the whole request, or a few more. */
  size: number;
  /** The request outlives the page. */
  keepalive: boolean;
}

/** Sends requests to one destination. */
export interface Sender extends Omit<Carrier, 'post' | 'give'> {
  capacity: Capacity;
  /** Before the first request, a browser sends another origin a preflight, and remembers the answer. */
  hasPreflight?: boolean;
  /** Nothing can be sent without a token. Missing if no token is needed. */
  token?: Pick<TokenSource, 'get' | 'ask'>;
  /**
   * Starts one request before it returns: nothing is awaited first. Resolves with an attempt for each record, in their
   * order, or with one attempt for the request as a whole. Resolves with `undefined` if the page was left before the
   * answer; the browser may go on with the request.
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
    /** Used in place of the global `fetch`. */
    fetch?: typeof fetch;
  };
  now: () => number;
  /** Begins to watch the page. The result tells later whether the page has been left meanwhile. */
  watchDeparture: () => () => Promise<boolean>;
  /** Whether the page has said that it goes away, so that it will hear no answer. */
  isGoing: () => boolean;
  /** Gives the browser a POST to send, whatever becomes of the page. Returns false if the browser does not take it. */
  beacon: (url: string, body: string) => boolean;
}

export type CreateSender = (effects: SenderEffects) => Sender;
