import { mayFail } from '../../util/may-fail.js';
import { parseRetryAfter } from '../../interface/backoff.js';
import type { Token } from '../../interface/bodies.js';
import { inTime } from '../../util/in-time.js';
import { RECORD_FROM } from '../../interface/wire.js';
import { outcomeOf, type Verdict } from '../../interface/outcome.js';
import { callback, flag, token, url } from '../../interface/kinds.js';
import { createReportOnce, type Tell } from '../hooks.js';
import type { Kinds } from '../check-options.js';
import type { Incoming } from '../incoming.js';
import { isFinal } from '../results.js';
import { causeOf, readStart, type ServiceAnswer, type ServiceFetch } from './fetch.js';
import { createTokenSource } from './token.js';

/** The result of one try at the service. */
export interface Attempt extends Verdict {
  retryAfterMs: number;
  /** The service's own words, if it does not take the record. */
  message?: string;
}

/** The service that records are sent to. */
export interface UpstreamOptions {
  /** Address of the service, to which `/v1/event` and `/v1/identify` are added. @default required */
  baseUrl?: string | undefined;
  /** The service's token, or a function that gets it, which is called again once after a 401. @default required */
  token?: Token | undefined;
  /** Send the record's id to the service as `Idempotency-Key`. @default true */
  idempotencyKey?: boolean | undefined;
  /** In place of the global `fetch`; on Node, `createNodeFetch()` of `relay/node` costs far less. */
  fetch?: ServiceFetch | undefined;
}

export const UPSTREAM_KINDS: Kinds<UpstreamOptions> = {
  baseUrl: url,
  token,
  idempotencyKey: flag,
  fetch: callback,
};

interface Effects extends UpstreamOptions {
  /** Milliseconds that a try may take. */
  timeout: number;
  now: () => number;
  tell: Tell;
}

/** Tries a record at the service. Never rejects. */
export type Upstream = (record: Incoming, address: string | undefined) => Promise<Attempt>;

const MAX_MESSAGE = 200;
const NO_ANSWER: Attempt = { outcome: 'retry', status: 0, retryAfterMs: 0 };

/** Sends one record in a request. When the token is refused, it asks for another one and tries once more. */
export const createUpstream = (effects: Effects): Upstream => {
  const { idempotencyKey = true, timeout, now, tell } = effects;
  // Called late, so that a wrapped global is used, and without `this`, which workerd would refuse.
  const { fetch: ask = (...args) => fetch(...args) } = effects;
  const baseUrl = effects.baseUrl!.replace(/\/+$/, '');
  const tokens = createTokenSource(effects.token!, timeout);
  const setupTrouble = createReportOnce(tell, now);
  const tokenTrouble = createReportOnce(tell, now);
  const silence = createReportOnce(tell, now);
  /** Requests are numbered: the last number, and what it was when the service was last silent, and last answered. */
  let begun = 0;
  let begunAtSilence = 0;
  let begunAtAnswer = 0;
  /** The service has decided about a record. */
  let hasPassed = false;

  const tryOnce = async (
    { id, type, text: body, calledAt, fromServer }: Incoming,
    bearer: string | undefined,
    address: string | undefined,
  ): Promise<Attempt> => {
    if (bearer === undefined) return NO_ANSWER;
    const turn = ++begun;
    const started = now();
    const abort = new AbortController();
    let response: ServiceAnswer | undefined;
    let text = '';
    const request = async (): Promise<void> => {
      // Only options that all runtimes know: workerd refuses `credentials`, `priority` and others.
      response = await ask(`${baseUrl}/v1/${type}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          ...(idempotencyKey && { 'idempotency-key': id }),
          // An event has its time in its body.
          ...(type === 'identify' && { 'x-called-at': calledAt }),
          ...(!fromServer && { [RECORD_FROM]: 'browser' }),
          ...(address && { 'x-forwarded-for': address }),
        },
        body,
        redirect: 'manual', // if it were followed, the POST would become a GET, whose 200 looks like a delivery
        signal: abort.signal,
      });
      text = await readStart(response);
    };
    try {
      await inTime(request(), timeout);
    } catch (error) {
      // Once there is a status, it is the answer, even if the body is cut off: the service has decided.
      abort.abort();
      // If others were answered meanwhile, the service is not silent: it does not answer this record. `createBackoff` reports that.
      if (!response && begunAtAnswer < turn) {
        begunAtSilence = begun;
        // Some runtimes quote a header that they refuse, which may be the token.
        const message = silenceWords(error).replaceAll(bearer, '…');
        silence.tell({ kind: 'unreachable', message });
      }
    }
    // An answer to a request from before the silence says nothing about now.
    if (response) {
      if (begunAtSilence < turn) silence.healed();
      begunAtAnswer = begun;
    }
    // A redirect that was not followed has status 0, which here means no answer.
    const status = response ? Number(response.status) || 302 : 0;
    tell.metric('upstream_ms', now() - started, { status: String(status) });
    const outcome = outcomeOf(status, text);
    return {
      outcome,
      status,
      // A wrapped `fetch` may leave out parts of a `Response`.
      retryAfterMs: parseRetryAfter(response?.headers?.get('retry-after'), now()),
      ...(outcome !== 'delivered' && wordsIn(text, bearer)),
    };
  };

  const bearer = async (): Promise<string | undefined> => {
    const problem = tokens.get() === undefined && (await tokens.ask());
    if (problem) tokenTrouble.tell({ kind: 'token', message: problem });
    else tokenTrouble.healed();
    return tokens.get();
  };

  return async (record, address) => {
    const used = await bearer();
    let result = await tryOnce(record, used, address);
    // If several requests are refused at once, only one calls for another token, and all use it.
    if (result.status === 401 && (tokens.get() !== used || tokens.refused()))
      result = await tryOnce(record, await bearer(), address);
    // If records have passed, a 413 is about this record alone, even if it comes with a page of HTML.
    if (hasPassed && result.status === 413) result.outcome = 'rejected';
    if (isFinal(result)) {
      hasPassed = true;
      setupTrouble.healed();
      tokens.passed();
    } else if (result.status === 401) {
      tokens.refused();
      setupTrouble.tell({ kind: 'setup', status: 401, message: setupWords(result) });
    }
    return result;
  };
};

/** The service's words in an answer that refuses a record, without the token. */
const wordsIn = (text: string, secret: string): Pick<Attempt, 'message'> => {
  const words = mayFail(() => (JSON.parse(text) as { message?: unknown }).message);
  if (typeof words !== 'string') return {};
  return { message: words.replaceAll(secret, '…').slice(0, MAX_MESSAGE) };
};

const silenceWords = (error: unknown): string => `${answerWords({ status: 0 })}: ${causeOf(error)}`;

/** With these statuses there is only trouble if something in between has sent an HTML page as the answer. */
const USUAL = /^(2..|4(00|09|13|22))$/;
/** The answer of the service in words, without control characters of a quoted record; status 0 is no answer. */
export const answerWords = ({ status, message }: Pick<Attempt, 'status' | 'message'>): string => {
  if (!status) return 'the service does not answer';
  const page = USUAL.test(`${status}`) ? ' with a page of HTML' : '';
  const words = message ? ` ("${message.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')}")` : '';
  return `the service answers ${status}${page}${words}`;
};
export const setupWords = (attempt: Pick<Attempt, 'status' | 'message'>): string =>
  `${answerWords(attempt)}: check \`baseUrl\` and \`token\``;
