import { inTime } from '../../interface/in-time.js';
import { readAnswer, type Answer } from './read-answer.js';
import type { SenderEffects } from './sender.js';

/**
 * Bytes of bodies in flight under keepalive. The browser allows 65,536 for the whole page, other
 * libraries' included (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch, step 8.10.5).
 */
export const KEEPALIVE_BUDGET = 48 * 1024;
/**
 * A page that is back waits so long for what it left under way. In WebKit and Firefox such a request may never
 * end in the eyes of its page, not by `abort` either (measured).
 */
const BACK_MS = 2_000;
/** A browser that takes no keepalive says so within this time; a network mostly fails later. */
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

/** Nothing where a script of the page has broken it: then the request is not ended, and not waited for. */
const createController = (): AbortController | undefined => {
  try {
    return new AbortController();
  } catch {
    return undefined;
  }
};

/** Posts, within a time and within the browser's budget for what outlives a page. */
export const createCarrier = (effects: Effects) => {
  const { settings, now, watchDeparture, isGoing } = effects;
  let keptAlive = 0;
  /** What ends the wait for each request that is under way. */
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
    /** Bytes that would still be carried past the page's end. */
    room: (): number => KEEPALIVE_BUDGET - keptAlive,
    /**
     * Starts the request before it returns. Never rejects. `undefined`: the page was left before the answer.
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
          // Others share the budget, and some TV browsers refuse keepalive with a preflight at all.
          // What fails later may have been stored; and a server that is down must not be asked twice.
          // A page that was going, or stood still, may be back by now, and its records another page's:
          // so the time is looked at last.
          if (!keepalive || wasGoing || (await wasLeft()) || isLate()) throw error;
          return request(message, false, signal);
        });
      if (keepalive) keptAlive += size;
      running.add(end);
      try {
        // Not by the signal alone: a `fetch` that was passed in may not know it.
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
     * Counts what the browser was given for good. No answer will say that it has gone: by the end of the
     * timeout it has, or never will.
     */
    give: (size: number): void => {
      keptAlive += size;
      setTimeout(() => {
        keptAlive -= size;
      }, settings().timeout);
    },
    /** Gives up all requests: nothing may be sent any more. */
    abort: (): void => {
      for (const end of running) end();
    },
    /** The page is back from the back/forward cache. It may never be told how its earlier requests ended. */
    comeBack: (): void => {
      const left = [...running];
      setTimeout(() => left.forEach((end) => end()), BACK_MS);
    },
  };
};

export type Carrier = ReturnType<typeof createCarrier>;
