import { isHidden } from '../../client/life.js';
import { mayFail } from '../../util/may-fail.js';

/** Faults on purpose, each with what it does. */
export const FAULTS = {
  offline: 'No request gets an answer.',
  slow: 'Each request starts 5 s late.',
  'answer 500': 'The service is broken.',
  'answer 429': 'The service asks for 10 s.',
  'drop the beacon': 'What a hidden page hands off is lost.',
} as const;
export type Fault = keyof typeof FAULTS;

const SLOW_MS = 5_000;

/** Rejects if the request is given up. */
const pause = (ms: number, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((settle, fail) => {
    if (ms) setTimeout(settle, ms);
    signal?.addEventListener('abort', () => fail(new TypeError('aborted')));
  });

/**
 * Makes requests to some addresses fail on purpose, on this page alone. While there is no fault, the page has its own
 * `fetch` and `sendBeacon`.
 */
export const createFaults = (isOurs: (address: string) => boolean) => {
  let fault: Fault | undefined;
  let restore: (() => void) | undefined;

  const wrap = () => {
    const { fetch: pageFetch } = globalThis;
    const { sendBeacon } = navigator;
    const ownFetch: typeof fetch = async (input, init) => {
      const go = () => pageFetch.call(globalThis, input, init);
      // Our client gives a text. Anything else is another script's.
      if (!fault || typeof input !== 'string' || !isOurs(input)) return go();
      if (fault === 'offline') throw new TypeError('offline');
      if (fault === 'slow') await pause(SLOW_MS, init?.signal);
      const status = /\d+/.exec(fault);
      if (status)
        return new Response('{}', {
          status: +status[0],
          headers: status[0] === '429' ? { 'retry-after': '10' } : {},
        });
      // It hangs until it is given up.
      if (fault !== 'slow' && isHidden()) await pause(0, init?.signal);
      return go();
    };
    const ownBeacon: typeof sendBeacon = (address, body) =>
      // A browser says that it has taken it, and fails later.
      (fault && fault !== 'slow' && isOurs(`${address}`)) ||
      sendBeacon.call(navigator, address, body);
    globalThis.fetch = ownFetch;
    navigator.sendBeacon = ownBeacon;
    return () => {
      // If another script has wrapped ours since, ours stays inside of it and lets everything pass.
      if (globalThis.fetch === ownFetch) globalThis.fetch = pageFetch;
      if (navigator.sendBeacon !== ownBeacon) return;
      delete (navigator as Partial<Navigator>).sendBeacon;
      if (navigator.sendBeacon !== sendBeacon) navigator.sendBeacon = sendBeacon;
    };
  };

  return {
    current: (): Fault | undefined => fault,
    set: (next: Fault | undefined): void => {
      fault = next;
      if (next) restore ??= mayFail(wrap);
      else {
        mayFail(() => restore?.());
        restore = undefined;
      }
    },
  };
};
