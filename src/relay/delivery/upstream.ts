import { boundedWait, parseRetryAfter } from '../../interface/backoff.js';
import type { Token } from '../../interface/bodies.js';
import { outcomeOf, type Verdict } from '../../interface/outcome.js';
import type { BatchRecord } from '../../interface/wire.js';
import { isFinal } from '../queue/record.js';
import type { Tell } from '../hooks.js';
import { inTime } from '../time.js';
import { createReportOnce } from '../report-once.js';
import { causeOf, readStart, type ServiceAnswer, type ServiceFetch } from './fetch.js';
import { createTokenSource } from './token.js';

/** The result of one request to the service. */
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

/** Sends one record to the service. When the token is refused, it asks for another one and tries once more. */
export const createUpstream = (effects: Effects) => {
  const { token, idempotencyKey, timeout, fetch, now, tell } = effects;
  const baseUrl = effects.baseUrl.replace(/\/+$/, '');
  const tokens = createTokenSource(
    () => token,
    () => timeout,
  );
  const setupTrouble = createReportOnce(tell, now);
  const tokenTrouble = createReportOnce(tell, now);
  const silence = createReportOnce(tell, now);
  /** Since when the service has given no answer. */
  let unreachableSince: number | undefined;

  /**
   * The service is reachable again when it answers a request that started after the trouble began. Answers to
   * older requests say nothing about now.
   */
  const noteAnswer = (started: number): void => {
    if (unreachableSince === undefined || started < unreachableSince) return;
    unreachableSince = undefined;
    silence.healed();
  };
  const noteSilence = (error: unknown, bearer: string): void => {
    if (unreachableSince !== undefined) return;
    unreachableSince = now();
    // Some runtimes quote a header that they refuse, which may be the token.
    const cause = causeOf(error).replaceAll(bearer, '…');
    silence.tell({ kind: 'unreachable', message: `the service does not answer: ${cause}` });
  };

  const attempt = async (
    { id, type, body, called_at: calledAt }: BatchRecord,
    bearer: string | undefined,
    address: string | undefined,
  ): Promise<Attempt> => {
    if (bearer === undefined) return { outcome: 'retry', status: 0, retryAfterMs: 0 };
    const started = now();
    const abort = new AbortController();
    let response: ServiceAnswer | undefined;
    let text = '';
    const ask = async (): Promise<void> => {
      // Only options that every runtime knows: workerd refuses `credentials`, `priority` and others.
      response = await fetch(`${baseUrl}/v1/${type}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          ...(idempotencyKey && { 'idempotency-key': id }),
          ...(calledAt !== undefined && { 'x-called-at': new Date(calledAt).toISOString() }),
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
      // No answer, or an incomplete one. Once there is a status, it is the answer: the service has stored the
      // record, even if the body is cut off or never ends.
      abort.abort();
      if (!response) noteSilence(error, bearer);
    }
    if (response) noteAnswer(started);
    const status = statusOf(response);
    tell.metric('upstream_ms', now() - started, { status: String(status) });
    return {
      outcome: outcomeOf(status, text),
      status,
      // A wrapped `fetch` may leave out parts of a `Response`.
      retryAfterMs: parseRetryAfter(response?.headers?.get('retry-after') ?? null, now()),
    };
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
    // When several requests are refused at once, only one asks for another token, and all use it.
    if (first.status !== 401 || (tokens.get() === used && !tokens.refused())) return first;
    return attempt(record, await bearer(), address);
  };

  /** The service has decided about a record. */
  let hasPassed = false;

  return async (record: BatchRecord, address?: string): Promise<Attempt> => {
    const result = await withToken(record, address);
    // A page of HTML instead of the service's answer. It is about this record alone, since others pass.
    if (hasPassed && result.status === 413) result.outcome = 'rejected';
    if (isFinal(result)) {
      hasPassed = true;
      setupTrouble.healed();
      tokens.passed();
    } else if (result.status === 401) {
      tokens.refused();
      setupTrouble.tell({ kind: 'setup', status: 401, message: setupWords(401) });
    }
    return result;
  };
};

/** These are no trouble but where a page comes in place of the answer, from something in between. */
export const answerWords = (status: number): string =>
  `the service answers ${status}${/^(2..|4(00|09|13|22))$/.test(`${status}`) ? ' with a page of HTML' : ''}`;
export const setupWords = (status: number): string =>
  `${answerWords(status)}: check \`baseUrl\` and \`token\``;

/** 0 where there was no answer. A redirect that was not followed has status 0 as well: it becomes 302. */
const statusOf = (response: ServiceAnswer | undefined): number =>
  response ? Number(response.status) || 302 : 0;

/** What became of a record that was given to `send`. */
export interface SendResult extends Verdict {
  /** Milliseconds until it is worth trying again, with `retry`. @default by the relay's own backoff */
  retryAfterMs?: number | undefined;
}

/**
 * Takes records in one call, in place of a request each: a store in the same process, say. Answers one result for each
 * record, in their order. Rejects if it could not take any of them; the relay tries them again. A record may come more
 * than once, with the same id.
 */
export type Send = (
  records: readonly BatchRecord[],
  how: {
    /** Whose records these are: an address, or what else `clientAddress` gives. */
    client: string | undefined;
    /** The truncated address, with `forwardAddress`. */
    address: string | undefined;
    /** The request that they came in; unknown where they come from a queue. */
    request: Request | undefined;
  },
) => Promise<readonly SendResult[]>;

interface BatchEffects {
  send: Send;
  /** Milliseconds a call may take. */
  timeout: number;
  now: () => number;
  tell: Tell;
}

/** Sends records by one call of `send`. What throws, hangs or answers too little has taken nothing. */
export const createBatchUpstream = ({ send, timeout, now, tell }: BatchEffects) => {
  const silence = createReportOnce(tell, now);

  return async (...call: Parameters<Send>): Promise<readonly Attempt[]> => {
    const started = now();
    let results: readonly (SendResult | undefined)[] = [];
    try {
      results = [...(await inTime(timeout, () => send(...call), '`send`'))];
      silence.healed();
    } catch (error) {
      const message = `the service does not answer: ${causeOf(error)}`;
      silence.tell({ kind: 'unreachable', message });
    }
    tell.metric('upstream_ms', now() - started, { status: String(results[0]?.status ?? 0) });
    return call[0].map((_, index): Attempt => {
      const { outcome = 'retry', status = 0, retryAfterMs = 0 } = results[index] ?? {};
      return { outcome, status, retryAfterMs: boundedWait(retryAfterMs) };
    });
  };
};
