import type { Answer } from './outcome.js';
import type { SenderEffects } from './sender.js';

/**
 * Bytes of bodies in flight under keepalive. The browser allows 65,536 for the whole page, other
 * libraries' included (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch, step 8.10.5).
 */
export const KEEPALIVE_BUDGET = 48 * 1024;
/** A browser that takes no keepalive says so within this time; a network mostly fails later. */
const REFUSAL_MS = 50;

type Effects = Pick<SenderEffects, 'settings' | 'fetch' | 'now' | 'watchDeparture' | 'isGoing'>;

interface Parcel {
  url: string;
  headers: Record<string, string>;
  body: string;
  credentials: RequestCredentials;
  /** Bytes of the body. */
  size: number;
  keepalive: boolean;
}

/** Posts, within a time and within the browser's budget for what outlives a page. */
export const createCarrier = (effects: Effects) => {
  const { settings, fetch: globalFetch, now, watchDeparture, isGoing } = effects;
  let keptAlive = 0;
  const running = new Set<AbortController>();

  const request = async (
    { url, headers, body, credentials }: Parcel,
    keepalive: boolean,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const { fetch = globalFetch } = settings();
    const response = await fetch(url, {
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
    return {
      status: response.status || 302, // an opaque redirect has status 0
      // To its end: Chromium gives the keepalive budget back only when the body has been read.
      // The status is the answer, though the rest of it breaks off.
      body: await response.text().catch(() => ''),
      retryAfter: response.headers.get('retry-after'),
    };
  };

  return {
    /** Bytes that would still be carried past the page's end. */
    room: (): number => KEEPALIVE_BUDGET - keptAlive,
    /** Starts the request before it returns. Never rejects. */
    post: async (parcel: Parcel): Promise<Answer> => {
      const { size, keepalive } = parcel;
      const abort = new AbortController();
      const wasLeft = watchDeparture();
      const wasGoing = isGoing();
      const began = now();
      let timer: ReturnType<typeof setTimeout> | undefined;
      // Not by the signal alone: a `fetch` that was passed in may not know it.
      const timeout = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          abort.abort();
          reject(new Error('timeout'));
        }, settings().timeout);
      });
      const sending = () =>
        request(parcel, keepalive, abort.signal).catch(async (error: unknown) => {
          // Others share the budget, and some TV browsers refuse keepalive with a preflight at all.
          // What fails later may have been stored; and a server that is down must not be asked twice.
          // A page that was going, or stood still, may be back by now, and its records another page's.
          const isLate = abort.signal.aborted || now() - began > REFUSAL_MS;
          if (!keepalive || isLate || wasGoing || (await wasLeft())) throw error;
          return request(parcel, false, abort.signal);
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
    /** Gives up all requests. */
    abort: (): void => {
      for (const controller of running) controller.abort();
    },
  };
};
