import { inTime } from '../../../util/in-time.js';
import { outcomeOf } from '../../../interface/outcome.js';
import { parseRetryAfter } from '../../../interface/backoff.js';
import { turns, wasLeft } from '../../life.js';
import type { Settings } from '../../options.js';
import { now } from '../../page.js';
import type { Answer } from './sender.js';

/**
 * At most this many bytes of bodies are in flight under keepalive. The browser allows 65,536 for all scripts of the
 * page together (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch, step 8.10.5).
 */
export const KEEPALIVE_BUDGET = 48 * 1024;
/** Start at most this many requests as the page is left. Chromium carries 256 past the end of a page, for all scripts. */
export const HANDOFF = 128;
/** A browser that refuses keepalive does so within this time. A network mostly takes longer to fail. */
const REFUSAL_MS = 50;
/** Timers of a hidden page come up to a second late. Where one comes later than this, the page was frozen. */
const FROZEN_MS = 2_000;
/** The body must follow the headers within this time. */
const BODY_MS = 5_000;

/** The answer of an HTTP request. */
export interface HttpAnswer extends Answer {
  /** The body; empty if it did not come in time. */
  text: string;
}

interface Message {
  url: string;
  headers?: Record<string, string>;
  body: string;
  credentials?: RequestCredentials;
  keepalive: boolean;
  controller: AbortController;
  /** Nothing has answered lately: one try is enough. */
  isSilent: boolean;
  /** What sends the request, in place of the page's own `fetch`. */
  fetch?: typeof fetch;
}

/**
 * Starts a request before it returns. Never rejects. Resolves with nothing if the page was left before the answer: the
 * browser completes the request all the same.
 */
export const post = async (
  { url, controller, keepalive, isSilent, fetch: given, ...message }: Message,
  settings: Settings,
): Promise<HttpAnswer | undefined> => {
  const began = now();
  const since = turns;
  // Not with a low priority: WebKit holds such requests back while a page loads (NetworkLoadScheduler.cpp).
  const request = (keepalive: boolean) =>
    (given ?? settings.fetch ?? fetch)(url, {
      ...message,
      method: 'POST',
      keepalive,
      signal: controller.signal,
      redirect: 'manual', // a 302 would turn the POST into a GET whose 200 looks like a delivery
    });
  const send = async () => {
    try {
      return await request(keepalive);
    } catch (error) {
      // Other scripts share the budget, and some browsers refuse keepalive for any request with a preflight.
      const isRefusal = keepalive && !isSilent && now() - began <= REFUSAL_MS;
      // If the page was away or frozen since, another page may have the records.
      if (!isRefusal || (await wasLeft(since)) || now() - began > FROZEN_MS) throw error;
      return request(false);
    }
  };
  let status = 0;
  let text = '';
  let retryAfterMs = 0;
  try {
    const response = await inTime(send(), settings.timeout);
    status = +response.status || 302;
    retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), now());
    // Read to its end, or Chromium would not free the request's part of the keepalive budget.
    text = `${await inTime(response.text(), BODY_MS)}`;
  } catch {
    controller.abort?.();
    if (!status && (await wasLeft(turns))) return undefined;
    // A status counts without its body.
  }
  return {
    outcome: outcomeOf(status, text),
    status,
    retryAfterMs,
    text,
    problem: url + ': ' + status + ' ' + text,
  };
};
