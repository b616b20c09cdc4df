import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { ServiceAnswer, ServiceFetch } from './service-fetch.js';

/** Less than the 5 seconds after which Node's own servers, for one, close an idle connection. */
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
      ...{ method, agent, signal },
      headers: { ...headers, 'content-length': length },
    };
    return new Promise<ServiceAnswer>((resolve, reject) => {
      const request = send(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode!,
            headers: { get: (name) => valueOf(response.headers[name.toLowerCase()]) },
            text: () => Promise.resolve(text),
          });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  };
};

const valueOf = (header: string | string[] | undefined): string | null =>
  header === undefined ? null : String(header);
