import type { Dispatcher } from 'undici';
import { MAX_ANSWER_BYTES, type ServiceAnswer, type ServiceFetch } from './fetch.js';

/** Shorter than the 5 seconds after which servers on Node close an idle connection. */
const IDLE_MS = 4_000;
const CONNECT_MS = 10_000;
/** The limits of undici, 5 minutes each, are off: the caller has a limit of its own, and aborts the request. */
const NO_LIMITS = { headersTimeout: 0, bodyTimeout: 0 };

const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
const hasProxy = (): boolean => PROXIES.some((name) => process.env[name]);

/** Loads undici with the first request, not as this file is imported. */
const loadUndici = async () => {
  try {
    return await import('undici');
  } catch (error) {
    // Node's own `fetch` knows of no proxy.
    if (hasProxy())
      throw new Error('the package undici is missing: npm install undici', { cause: error });
    return undefined;
  }
};

/**
 * A light `fetch` for relays on Node, made of the package undici. Node's own `fetch` is the same client behind web
 * streams, and needs ten times the CPU for a request as small as a record; it is used if the package is missing.
 * Requests go through the proxy in `HTTPS_PROXY`, except to hosts in `NO_PROXY`.
 *
 * @example
 * const relay = createRelay({ ...options, fetch: createNodeFetch() });
 */
export const createNodeFetch = (): ServiceFetch => {
  let chosen: Promise<ServiceFetch> | undefined;
  const choose = async (): Promise<ServiceFetch> => {
    const undici = await loadUndici();
    return undici ? createDispatch(undici) : (...args) => fetch(...args);
  };
  return async (...args) => (await (chosen ??= choose()))(...args);
};

const createDispatch = ({ Agent, EnvHttpProxyAgent }: typeof import('undici')): ServiceFetch => {
  const keep = { keepAliveTimeout: IDLE_MS, connect: { timeout: CONNECT_MS } };
  const dispatcher = hasProxy() ? new EnvHttpProxyAgent(keep) : new Agent(keep);

  return (address, { method, headers, body, signal }) =>
    new Promise<ServiceAnswer>((resolve, reject) => {
      const { origin, pathname, search } = new URL(address);
      const { text, ...reading } = createText();
      let controller: Dispatcher.DispatchController | undefined;
      const stop = () => {
        reject(signal.reason as Error);
        controller?.abort(signal.reason as Error);
      };
      signal.addEventListener('abort', stop);
      dispatcher.dispatch(
        { origin, path: pathname + search, method, headers, body, ...NO_LIMITS },
        {
          onRequestStart: (started) => {
            controller = started;
            if (signal.aborted) stop();
          },
          onResponseStart: (_, status, answered) => {
            if (status < 200) return; // 102 and 103 come before the answer
            resolve({
              status,
              headers: { get: (name) => valueOf(answered[name.toLowerCase()]) },
              text: () => text,
            });
          },
          onResponseData: (answering, chunk) => {
            if (!reading.add(chunk)) answering.abort(new Error('too long'));
          },
          onResponseEnd: reading.end,
          onResponseError: (_, error) => {
            reject(error);
            reading.fail(error);
          },
        },
      );
    });
};

/** Collects at most 64 KiB of an answer. A longer one is cut off. */
const createText = () => {
  const chunks: Buffer[] = [];
  let size = 0;
  let resolve: (text: string) => void;
  let fail: (error: Error) => void;
  const text = new Promise<string>((...settle) => ([resolve, fail] = settle));
  text.catch(() => {}); // nobody may ever call `text()`
  const end = () => resolve(Buffer.concat(chunks).toString());
  return {
    text,
    /** Whether more may come. */
    add: (chunk: Buffer): boolean => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ANSWER_BYTES) end();
      return size < MAX_ANSWER_BYTES;
    },
    end,
    fail: (error: Error) => fail(error),
  };
};

const valueOf = (header: string | string[] | undefined): string | null =>
  header === undefined ? null : String(header);
