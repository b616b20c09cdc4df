import type { FaultRule } from '../../../../demo/server/fault-rules.js';
import type { LoggedRequest } from '../../../../demo/server/faults.js';

export const TOKEN = 'test-token';

export const event = { project: 'p', channel: 'c', event: 'e' };
export const identify = { project: 'p', user_id: 'u', properties: {} };

export type Row = Record<string, unknown> & { id: number };
export type Client = ReturnType<typeof createClient>;

/** Talks to a service over HTTP as its clients do. */
export function createClient(url: string) {
  const send = (path: string, init?: RequestInit) => fetch(url + path, init);

  /** Posts JSON (a string goes as it is) with the token; a header set to `null` is left out. */
  function post(path: string, body: unknown, headers: Record<string, string | null> = {}) {
    const all = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      ...headers,
    };
    return send(path, {
      method: 'POST',
      headers: Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
      // Bytes, for a string would get a content type of its own.
      body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
    });
  }

  async function list<Name extends string>(name: Name, query = '') {
    const response = await send(`/_/${name}${query}`);
    return (await response.json()) as Record<Name, Row[]> & { total: number };
  }

  return {
    url,
    send,
    post,
    list,
    events: async () => (await list('events')).events,
    profiles: async () => (await list('profiles')).profiles,
    identifies: async () => (await list('identifies')).identifies,
    requests: async () =>
      ((await (await send('/_/requests')).json()) as { requests: LoggedRequest[] }).requests,
    setFaults: (...rules: FaultRule[]) =>
      send('/_/faults', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(rules),
      }),
  };
}
