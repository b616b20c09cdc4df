import { parseRetryAfter } from '../../interface/backoff.js';
import { inTime } from '../../interface/in-time.js';
import { outcomeOf, type Verdict } from '../../interface/outcome.js';

/** What came back for a request. */
export interface Answer extends Verdict {
  retryAfterMs: number;
  /** What was read of it. */
  body: string;
  /** The rest of the body did not come. */
  brokeOff: boolean;
  /** What the developer is to look at, where no answer came. */
  problem?: string;
}

/** So much of a body is read, in characters. The answers of a service or a relay are far shorter. */
const BODY_LENGTH = 65_536;
/** The body must follow the headers within this time. */
const BODY_MS = 5_000;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Ends a body that nobody reads any more. Cancelling alone would keep the connection busy in Firefox. */
const release = async (reader: Reader | undefined, abort: () => void): Promise<void> => {
  abort();
  try {
    await reader?.cancel();
  } catch {
    // aborted by now
  }
};

const readBody = async (response: Response, { ms, abort }: { ms: number; abort: () => void }) => {
  let body = '';
  let reader: Reader | undefined;
  let isEnded = false;
  let brokeOff = false;
  const read = async () => {
    // A wrapped `fetch` may hand on a body that is no stream of the browser's.
    reader = (response.body as { getReader?: () => Reader } | null)?.getReader?.();
    if (reader) {
      const decoder = new TextDecoder();
      while (!isEnded && body.length < BODY_LENGTH) {
        const { done, value } = await reader.read();
        isEnded = done;
        body += decoder.decode(value, { stream: true });
      }
    } else {
      body = await response.text();
      isEnded = true;
    }
  };
  try {
    await inTime(read(), ms);
  } catch {
    brokeOff = true;
  }
  // Or Chromium would not give back its part of the keepalive budget.
  if (!isEnded) void release(reader, abort);
  return { body, brokeOff };
};

const readRetryAfter = (response: Response): string | null => {
  try {
    return response.headers.get('retry-after');
  } catch {
    return null; // an object that a wrapped `fetch` made up
  }
};

/**
 * What a response says. Its status is the answer, whatever becomes of its body or is missing from it: a
 * script that wraps `fetch` may hand on something else than a `Response`.
 */
export const readAnswer = async (
  response: Response,
  { timeout, now, abort }: { timeout: number; now: () => number; abort: () => void },
): Promise<Answer> => {
  // An opaque redirect has status 0. One that was followed has turned the POST into a GET.
  const status = (!response.redirected && Number(response.status)) || 302;
  const retryAfterMs = parseRetryAfter(readRetryAfter(response), now());
  const { body, brokeOff } = await readBody(response, { ms: Math.min(BODY_MS, timeout), abort });
  return { outcome: outcomeOf(status, body), status, retryAfterMs, body, brokeOff };
};
