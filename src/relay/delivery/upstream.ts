import { parseRetryAfter } from '../../interface/backoff.js';
import { verdictOf, type Answer, type Verdict } from '../../interface/outcome.js';
import { createTokenSource } from '../../interface/token.js';
import type { Token } from '../../interface/bodies.js';
import type { BatchRecord } from '../../interface/wire.js';
import { causeOf } from './cause-of.js';
import type { Tell } from '../hooks.js';
import { inTime } from '../in-time.js';
import { isFinal } from '../queue/later.js';
import { readStart } from './read-start.js';
import { createTrouble } from '../trouble.js';
import type { ServiceAnswer, ServiceFetch } from '../service-fetch.js';

/** What a record came to at the service. */
export interface Attempt extends Verdict {
  retryAfterMs: number;
}

interface Effects {
  baseUrl: string;
  token: Token;
  idempotencyKey: boolean;
  /** Milliseconds a try may take. */
  timeout: number;
  fetch: ServiceFetch;
  now: () => number;
  tell: Tell;
}

/** Sends one record to the service, and asks for another token once when that one is refused. */
export const createUpstream = (effects: Effects) => {
  const { token, idempotencyKey, timeout, fetch, now, tell } = effects;
  const baseUrl = effects.baseUrl.replace(/\/+$/, '');
  const tokens = createTokenSource(
    () => token,
    () => timeout,
  );
  const setupTrouble = createTrouble(tell);
  const tokenTrouble = createTrouble(tell);
  /** Since when the service has given no answer. */
  let unreachableSince: number | undefined;

  /** Of requests under way together, those that are answered yet say nothing of how things are now. */
  const heard = (started: number): void => {
    if (unreachableSince !== undefined && started >= unreachableSince) unreachableSince = undefined;
  };
  const heardNothing = (error: unknown, bearer: string): void => {
    if (unreachableSince !== undefined) return;
    unreachableSince = now();
    // A runtime may name a header that it does not like.
    const cause = causeOf(error).replaceAll(bearer, '…');
    tell.error({ kind: 'unreachable', message: `the service does not answer: ${cause}` });
  };

  const attempt = async (
    { id, type, body }: BatchRecord,
    bearer: string | undefined,
    address: string | undefined,
  ): Promise<Attempt> => {
    if (bearer === undefined) return { outcome: 'retry', status: 0, retryAfterMs: 0 };
    const started = now();
    const abort = new AbortController();
    let response: ServiceAnswer | undefined;
    let text = '';
    const ask = async (): Promise<void> => {
      // Only what every runtime knows: workerd refuses `credentials`, `priority` and the like.
      response = await fetch(`${baseUrl}/v1/${type}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          ...(idempotencyKey && { 'idempotency-key': id }),
          ...(address && { 'x-forwarded-for': address }),
        },
        body: JSON.stringify(body),
        redirect: 'manual', // followed, a POST would become a GET whose 200 looks like a delivery
        signal: abort.signal,
      });
      text = await readStart(response);
    };
    try {
      await inTime(timeout, ask);
    } catch (error) {
      // Refused, unreachable, broken off or timed out. Once there is a status, that is the answer: a record
      // whose answer has a body that is cut off or never ends has been stored all the same.
      abort.abort();
      if (!response) heardNothing(error, bearer);
    }
    if (response) heard(started);
    const answer = answerOf(response, text);
    const retryAfterMs = 'body' in answer ? parseRetryAfter(answer.retryAfter, now()) : 0;
    tell.metric('upstream_ms', now() - started, { status: String(answer.status) });
    return { ...verdictOf(answer), retryAfterMs };
  };

  const bearer = async (): Promise<string | undefined> => {
    const problem = tokens.get() === undefined && (await tokens.ask());
    if (problem) tokenTrouble.tell({ kind: 'token', message: problem });
    else tokenTrouble.healed();
    return tokens.get();
  };

  const withToken = async (record: BatchRecord, address: string | undefined): Promise<Attempt> => {
    const used = await bearer();
    const first = await attempt(record, used, address);
    // Of requests that are refused together one asks for another token, and all of them use it.
    if (first.status !== 401 || (tokens.get() === used && !tokens.renew())) return first;
    return attempt(record, await bearer(), address);
  };

  return async (record: BatchRecord, address?: string): Promise<Attempt> => {
    const result = await withToken(record, address);
    if (isFinal(result)) {
      setupTrouble.healed();
      tokens.passed();
    } else if (result.outcome === 'blocked') {
      const { status } = result;
      if (status === 401) tokens.forget();
      const message = `the service answers ${status}: check \`baseUrl\` and \`token\``;
      setupTrouble.tell({ kind: 'setup', status, message });
    }
    return result;
  };
};

/** What came of a request, also where `fetch` is wrapped and answers with less than a `Response`. */
const answerOf = (response: Partial<ServiceAnswer> | undefined, body: string): Answer => {
  if (!response) return { status: 0, wasLeft: false };
  // An opaque redirect has status 0.
  const answer = { status: Number(response.status) || 302, body };
  return { ...answer, retryAfter: response.headers?.get('retry-after') ?? null };
};
