import type { OutboxRecord } from '../types.js';
import { parseRetryAfter } from './backoff.js';
import { verdictOf, type Answer, type Verdict } from './outcome.js';

/**
 * Bytes of bodies in flight under keepalive. The browser allows 65,536 for the whole page, other
 * libraries' included (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch, step 8.10.5).
 */
export const KEEPALIVE_BUDGET = 48 * 1024;

/** What an attempt came to. */
export interface Attempt extends Verdict {
  retryAfterMs: number;
  /** The page was left before the answer: the browser may go on with it. */
  wasLeft: boolean;
  /** The token it was made with. */
  token: string;
}

interface Effects {
  settings: () => {
    baseUrl: string;
    timeout: number;
    idempotencyKey?: boolean;
    fetch?: typeof fetch;
  };
  fetch: typeof fetch;
  now: () => number;
  /** Begins to watch; tells later whether the page has been left meanwhile. */
  watchDeparture: () => () => Promise<boolean>;
}

/** Sends one record a request, straight to the service (interface, section 4). */
export const createDirectSender = ({
  settings,
  fetch: globalFetch,
  now,
  watchDeparture,
}: Effects) => {
  let keptAlive = 0;
  const running = new Set<AbortController>();

  const request = async (
    record: OutboxRecord,
    token: string,
    keepalive: boolean,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const { baseUrl, idempotencyKey, fetch = globalFetch } = settings();
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/v1/${record.type}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(idempotencyKey && { 'idempotency-key': record.id }),
      },
      body: record.body,
      keepalive,
      signal,
      credentials: 'omit',
      priority: 'low',
      // Followed, a 301 or 302 would turn the POST into a GET whose 200 looks like a delivery.
      redirect: 'manual',
    });
    return {
      status: response.status || 302, // an opaque redirect has status 0
      // To its end: Chromium gives the keepalive budget back only when the body has been read.
      // The status is the answer, though the rest of it breaks off.
      body: await response.text().catch(() => ''),
      retryAfter: response.headers.get('retry-after'),
    };
  };

  const answerTo = async (
    record: OutboxRecord,
    token: string,
    size: number,
    keepalive: boolean,
  ): Promise<Answer> => {
    const abort = new AbortController();
    const wasLeft = watchDeparture();
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Not by the signal alone: a `fetch` that was passed in may not know it.
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        abort.abort();
        reject(new Error('timeout'));
      }, settings().timeout);
    });
    const sending = () =>
      request(record, token, keepalive, abort.signal).catch(async (error: unknown) => {
        // Others share the budget, and some TV browsers refuse keepalive with a preflight at all.
        if (!keepalive || abort.signal.aborted || (await wasLeft())) throw error;
        return request(record, token, false, abort.signal);
      });
    if (keepalive) keptAlive += size;
    running.add(abort);
    try {
      return await Promise.race([sending(), timeout]);
    } catch {
      return { status: 0, wasLeft: await wasLeft() };
    } finally {
      clearTimeout(timer);
      running.delete(abort);
      if (keepalive) keptAlive -= size;
    }
  };

  return {
    /** Bytes that would still be carried past the page's end. */
    room: (): number => KEEPALIVE_BUDGET - keptAlive,
    /** Starts the request before it returns: nothing is awaited first. */
    send: async (
      record: OutboxRecord,
      token: string,
      size: number,
      keepalive: boolean,
    ): Promise<Attempt> => {
      const answer = await answerTo(record, token, size, keepalive);
      const retryAfterMs = 'body' in answer ? parseRetryAfter(answer.retryAfter, now()) : 0;
      const wasLeft = 'wasLeft' in answer && answer.wasLeft;
      return { ...verdictOf(answer), retryAfterMs, token, wasLeft };
    },
    /** Gives up all requests (consent withdrawn). */
    abort: () => {
      for (const controller of running) controller.abort();
    },
  };
};

export type Sender = ReturnType<typeof createDirectSender>;
