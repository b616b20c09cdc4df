import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { MAX_ANSWER_BYTES } from './read-start.js';
import type { ServiceAnswer, ServiceFetch } from '../service-fetch.js';

/** Shorter than the 5 seconds after which servers on Node close an idle connection. */
const IDLE_MS = 4_000;

/**
 * What a relay needs of `fetch`, on Node's own HTTP client, which follows no redirect. Node's `fetch` is
 * built of web streams and spends several times the CPU on a request as small as a record.
 *
 * @example
 * const relay = createRelay({ ...options, fetch: createNodeFetch() });
 */
export const createNodeFetch = (): ServiceFetch => {
  const keep = { keepAlive: true, timeout: IDLE_MS };
  const http = { send: httpRequest, agent: new HttpAgent(keep) };
  const https = { send: httpsRequest, agent: new HttpsAgent(keep) };

  return (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    const { send, agent } = url.protocol === 'https:' ? https : http;
    const length = String(Buffer.byteLength(body)); // or it goes in chunks
    const options: RequestOptions = {
      ...{ method, agent },
      headers: { ...headers, 'content-length': length },
    };
    return new Promise<ServiceAnswer>((resolve, reject) => {
      const request = send(url, options, (response) => {
        const text = readText(response);
        text.catch(() => {}); // whoever asks for the text hears of it
        resolve({
          status: response.statusCode!,
          headers: { get: (name) => valueOf(response.headers[name.toLowerCase()]) },
          text: () => text,
        });
      });
      request.on('error', reject);
      // The option `signal` of Node's listens to more than that, which costs a seventh of the request.
      const stop = () => request.destroy(signal.reason as Error);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop);
      request.end(body);
    });
  };
};

/** Reads at most 64 KiB. What is longer is cut off by closing the connection. */
const readText = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => resolve(Buffer.concat(chunks).toString());
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size < MAX_ANSWER_BYTES) return;
      finish();
      response.destroy();
    });
    response.on('end', finish);
    response.on('error', reject);
  });

const valueOf = (header: string | string[] | undefined): string | null =>
  header === undefined ? null : String(header);
