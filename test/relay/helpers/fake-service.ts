/** A request the fake service got. */
export interface Got {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  /** Gives the answer; an Error instead breaks the connection. */
  answer: (status?: number, body?: unknown, headers?: Record<string, string>) => void;
  fail: () => void;
}

/** Stands in for the service: `fetch` to pass in, and what it was asked. It answers 200 unless it holds. */
export const createFakeService = ({ hold = false } = {}) => {
  const got: Got[] = [];
  const waiting = new Set<{ count: number; resolve: () => void }>();
  const rules: ((request: Got) => boolean)[] = [];
  let active = 0;
  let mostActive = 0;

  const fakeFetch = ((url: string, init: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      mostActive = Math.max(mostActive, ++active);
      const settle = (end: () => void) => {
        active--;
        end();
      };
      const request: Got = {
        path: new URL(url).pathname,
        headers: Object.fromEntries(new Headers(init.headers)),
        body: JSON.parse(init.body as string) as Record<string, unknown>,
        answer: (status = 200, body = { success: true, message: 'ok' }, headers = {}) =>
          settle(() => resolve(new Response(JSON.stringify(body), { status, headers }))),
        fail: () => settle(() => reject(new TypeError('failed'))),
      };
      init.signal?.addEventListener('abort', () => request.fail());
      got.push(request);
      for (const wait of waiting) if (got.length >= wait.count) wait.resolve();
      if (rules.some((rule) => rule(request))) return;
      if (!hold) request.answer();
    })) as typeof fetch;

  return {
    fetch: fakeFetch,
    got,
    /** Names of events and users of identifies, in the order they came. */
    names: () =>
      got.map(({ body }) => String(body['event'] ?? `identify ${String(body['user_id'])}`)),
    mostActive: () => mostActive,
    /** Answers by itself where the rule returns true. */
    when: (rule: (request: Got) => boolean) => rules.push(rule),
    /** Settles when so many requests have come. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        if (got.length >= count) resolve();
        else waiting.add({ count, resolve });
      }),
  };
};
