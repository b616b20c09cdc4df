import { inTime } from '../../interface/in-time.js';
import { readAnswer, type Answer } from './read-answer.js';
import type { SenderEffects } from './sender.js';

/**
 * At most this many bytes of bodies are in flight under keepalive. The browser allows 65,536 for the whole page,
 * for all its scripts together (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch, step 8.10.5).
 */
export const KEEPALIVE_BUDGET = 48 * 1024;
/**
 * A page that comes back from the back/forward cache waits this long for the requests that it left under way. In
 * WebKit and Firefox it may never be told that such a request has ended, not even after `abort` (measured).
 */
const BACK_MS = 2_000;
/** A browser that refuses keepalive does so within this time. A network mostly takes longer to fail. */
const REFUSAL_MS = 50;

type Effects = Omit<SenderEffects, 'beacon'>;

interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
  credentials: RequestCredentials;
  /** Bytes of the body, or a few more. */
  size: number;
  keepalive: boolean;
}

const noAnswer = ({ relay, baseUrl }: ReturnType<SenderEffects['settings']>): Answer => ({
  outcome: 'retry',
  status: 0,
  retryAfterMs: 0,
  body: '',
  brokeOff: true,
  problem:
    `nothing answers at ${relay ?? baseUrl}, though the browser is online. Does it answer with ` +
    "CORS headers for this page? Does the page's policy allow it in connect-src? Is there a blocker?",
});

/** Undefined if a script of the page has broken it. Then a request cannot be ended, only no longer waited for. */
const createController = (): AbortController | undefined => {
  try {
    return new AbortController();
  } catch {
    return undefined;
  }
};

/** Posts messages, each within the `timeout`, and keeps count of the bytes that outlive the page. */
export const createCarrier = (effects: Effects) => {
  const { settings, now, watchDeparture, isGoing } = effects;
  let keptAlive = 0;
  /** A function for each request under way, which ends the wait for its answer. */
  const running = new Set<() => void>();

  const request = async (
    { url, headers, body, credentials }: Message,
    keepalive: boolean,
    signal: AbortSignal | null,
  ): Promise<Response> => {
    const { fetch: own } = settings();
    return (own ?? fetch)(url, {
      method: 'POST',
      headers,
      body,
      keepalive,
      signal,
      credentials,
      priority: 'low',
      // Followed, a 301 or 302 would turn the POST into a GET whose 200 looks like a delivery.
      redirect: 'manual',
    });
  };

  return {
    /** Bytes that a request under keepalive may still have. */
    room: (): number => KEEPALIVE_BUDGET - keptAlive,
    /**
     * Starts the request before it returns. Never rejects. Resolves with `undefined` if the page was left before the
     * answer.
     */
    post: async (message: Message): Promise<Answer | undefined> => {
      const { size, keepalive } = message;
      const { timeout } = settings();
      const controller = createController();
      const abort = () => controller?.abort();
      let end!: () => void;
      const ended = new Promise<never>((_, reject) => {
        end = () => reject(new Error('given up'));
      });
      const wasLeft = watchDeparture();
      const wasGoing = isGoing();
      const began = now();
      const isLate = () => signal?.aborted || now() - began > REFUSAL_MS;
      const signal = controller?.signal ?? null;
      const respond = () =>
        request(message, keepalive, signal).catch(async (error: unknown) => {
          // The browser may have refused keepalive: other scripts share its budget, and some TV browsers refuse it
          // for any request with a preflight. Then the request is tried once more without keepalive. A request that
          // fails later may have reached the service, and a server that is down must not be asked twice. A page that
          // was going away, or stood still, may be back by now while another page has its records: so the time is
          // looked at last.
          if (!keepalive || wasGoing || (await wasLeft()) || isLate()) throw error;
          return request(message, false, signal);
        });
      if (keepalive) keptAlive += size;
      running.add(end);
      try {
        // The wait ends without the signal, too, since a `fetch` that was passed in may ignore it.
        return await readAnswer(await Promise.race([inTime(respond(), timeout), ended]), {
          timeout,
          now,
          abort,
        });
      } catch {
        abort();
        return (await wasLeft()) ? undefined : noAnswer(settings());
      } finally {
        running.delete(end);
        if (keepalive) keptAlive -= size;
      }
    },
    /**
     * Counts the bytes of a beacon. The page is never told that it was sent, so they count until the end of the
     * timeout.
     */
    give: (size: number): void => {
      keptAlive += size;
      setTimeout(() => {
        keptAlive -= size;
      }, settings().timeout);
    },
    /** Gives up all requests, since nothing may be sent any more. */
    abort: (): void => {
      for (const end of running) end();
    },
    /** Called when the page is back from the back/forward cache: gives up its earlier requests after a while. */
    comeBack: (): void => {
      const left = [...running];
      setTimeout(() => left.forEach((end) => end()), BACK_MS);
    },
  };
};

export type Carrier = ReturnType<typeof createCarrier>;
