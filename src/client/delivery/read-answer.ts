import { parseRetryAfter } from '../../interface/backoff.js';
import { inTime } from '../../interface/in-time.js';
import { outcomeOf, type Verdict } from '../../interface/outcome.js';

/** The answer to a request. */
export interface Answer extends Verdict {
  retryAfterMs: number;
  /** As much of the body as was read. */
  body: string;
  /** The rest of the body did not come, or there was no answer at all. */
  brokeOff: boolean;
  /** If there was no answer: what the developer has to look at. */
  problem?: string;
}

/** At most this many characters of a body are read. The answers of a service or a relay are far shorter. */
const BODY_LENGTH = 65_536;
/** The body must follow the headers within this time. */
const BODY_MS = 5_000;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Ends a body that nobody reads any more. If it were only cancelled, Firefox would keep the connection busy. */
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
    // A wrapped `fetch` may return an object whose body is no stream.
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
  // Otherwise Chromium would not free the request's part of the keepalive budget.
  if (!isEnded) void release(reader, abort);
  return { body, brokeOff };
};

const readRetryAfter = (response: Response): string | null => {
  try {
    return response.headers.get('retry-after');
  } catch {
    return null; // a wrapped `fetch` has returned something else than a `Response`
  }
};

/**
 * Reads a response. Its status counts, even if its body breaks off or other parts are missing: a script that wraps
 * `fetch` may return something else than a `Response`.
 */
export const readAnswer = async (
  response: Response,
  { timeout, now, abort }: { timeout: number; now: () => number; abort: () => void },
): Promise<Answer> => {
  // A redirect counts as 302: an opaque one has status 0, and one that was followed has turned the POST into a GET.
  const status = (!response.redirected && Number(response.status)) || 302;
  const retryAfterMs = parseRetryAfter(readRetryAfter(response), now());
  const { body, brokeOff } = await readBody(response, { ms: Math.min(BODY_MS, timeout), abort });
  return { outcome: outcomeOf(status, body), status, retryAfterMs, body, brokeOff };
};
