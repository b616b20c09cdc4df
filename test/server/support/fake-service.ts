/** A request the fake service got. */
export interface Got {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  /** Of an event its name, of an identify the user behind the word. */
  name: string;
  answer: (status?: number, body?: unknown, headers?: Record<string, string>) => void;
  /** Breaks the connection. */
  fail: () => void;
}

/** What an answer that fails has beside its status. */
interface Failure {
  /** Of the requests whose names are meant; all where nothing is said. */
  when?: (name: string) => boolean;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Stands in for the service: `fetch` to pass in, and what it was asked. It answers 200 unless it holds or fails. */
export const createFakeService = ({ hold = false } = {}) => {
  const got: Got[] = [];
  const waiting = new Set<{ count: number; resolve: () => void }>();
  const rules: ((request: Got) => boolean)[] = [];
  let isOpen = !hold;

  const fakeFetch = ((url: string, init: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      const body = JSON.parse(init.body as string) as Record<string, unknown>;
      const request: Got = {
        path: new URL(url).pathname,
        headers: Object.fromEntries(new Headers(init.headers)),
        body,
        name: String(body['event'] ?? `identify ${String(body['user_id'])}`),
        answer: (status = 200, answer = { success: true, message: 'ok' }, headers = {}) =>
          resolve(new Response(JSON.stringify(answer), { status, headers })),
        fail: () => reject(new TypeError('failed')),
      };
      init.signal?.addEventListener('abort', () => request.fail());
      got.push(request);
      for (const wait of waiting) if (got.length >= wait.count) wait.resolve();
      if (rules.some((rule) => rule(request))) return;
      if (isOpen) request.answer();
    })) as typeof fetch;

  /** Answers by itself where the rule returns true. */
  const when = (rule: (request: Got) => boolean) => rules.push(rule);

  return {
    fetch: fakeFetch,
    got,
    names: () => got.map(({ name }) => name),
    when,
    /** Fails, with no answer where the status is 0, until the function that it returns is called. */
    fails: (status: number, { when: isMeant = () => true, body = {}, headers }: Failure = {}) => {
      let isOver = false;
      when((request) => {
        if (isOver || !isMeant(request.name)) return false;
        if (status) request.answer(status, body, headers);
        else request.fail();
        return true;
      });
      return () => void (isOver = true);
    },
    /** Settles when so many requests have come. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        if (got.length >= count) resolve();
        else waiting.add({ count, resolve });
      }),
    /** Answers what it holds, and from now on everything at once. */
    open: () => {
      isOpen = true;
      for (const { answer } of got) answer();
    },
  };
};
