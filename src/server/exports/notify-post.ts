import { parseRetryAfter } from '../../interface/backoff.js';
import { causeOf, readStart } from '../deliver/fetch.js';
import { notifyRequest, type NotifyTarget } from './notify-formats.js';
import { onOneLine, type Message } from './notify-message.js';

/** What became of a message. */
export interface Posted {
  /**
   * `retry`: the target is away or busy. `refused`: the set-up is wrong. Either way the message is sent again. `dropped`:
   * the target refuses this message, also when it is bare.
   */
  outcome: 'delivered' | 'retry' | 'refused' | 'dropped';
  /** The answer, for operators, without secrets. */
  words: string;
  /** How long the target asks to wait, in milliseconds; 0 if it does not. */
  retryAfterMs: number;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER = 4_096;
const MAX_QUOTED = 200;

/** Answers that are about the message and not about the address, as they are about a record. */
const OF_A_MESSAGE = [400, 409, 413, 422];

const outcomeOf = (status: number): Posted['outcome'] => {
  if (status >= 200 && status < 300) return 'delivered';
  if (OF_A_MESSAGE.includes(status)) return 'dropped';
  return status < 300 || status >= 500 || [408, 425, 429].includes(status) ? 'retry' : 'refused';
};

const DROPPED = 'it refuses the message, even in its shortest form';
const ADVICE: Readonly<Record<number, string>> = {
  401: 'it asks for a user and a password, or for others: give them in NOTIFY',
  403: 'it does not let this address in: check its user and password in NOTIFY',
  404: 'there is nothing at this address: check it in NOTIFY',
  410: 'the address was closed there: make a new one, and give it in NOTIFY',
};
const adviceFor = (status: number): string =>
  status < 400
    ? 'a redirect, which is not followed: give the address behind it in NOTIFY'
    : (ADVICE[status] ?? 'it refuses messages: check the address in NOTIFY');

/** Sends messages to one target. Never rejects. */
export const createPost = (target: NotifyTarget) => {
  const { secrets } = target.address;
  /** A text of the target, on one line and without the parts of the address that are secret. */
  const quoted = (text: string): string => {
    const safe = secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text);
    return onOneLine(safe).slice(0, MAX_QUOTED);
  };

  const send = async (message: Message, isBare: boolean): Promise<Posted> => {
    const { url, headers, body } = notifyRequest(target, message, { now: Date.now(), isBare });
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal,
      });
      // The status is the answer, even if its text is cut off.
      const text = quoted(await readStart(answer, MAX_ANSWER).catch(() => ''));
      const { status } = answer;
      const outcome = outcomeOf(status);
      const said = `answers ${status}${text && outcome !== 'delivered' ? ` ("${text}")` : ''}`;
      return {
        outcome,
        words:
          outcome === 'refused'
            ? `${said}: ${adviceFor(status)}`
            : `${said}${outcome === 'dropped' ? `: ${DROPPED}` : ''}`,
        retryAfterMs: parseRetryAfter(answer.headers.get('retry-after'), Date.now()),
      };
    } catch (error) {
      return {
        ...{ outcome: 'retry', retryAfterMs: 0 },
        words: `does not answer: ${quoted(causeOf(error))}`,
      };
    }
  };

  /** The message that was refused as it was. Until it has arrived or is dropped, it is sent bare. */
  let bareId: string | undefined;
  return async (message: Message): Promise<Posted> => {
    if (message.id !== bareId) {
      const posted = await send(message, false);
      if (posted.outcome !== 'dropped') return posted;
      bareId = message.id;
    }
    return send(message, true);
  };
};

export type Post = ReturnType<typeof createPost>;
