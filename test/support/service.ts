import { createRelay, type RelayOptions } from '../../src/relay.js';
import type { Batch } from '../../src/interface/wire.js';
import { BASE_URL, SITE, TOKEN } from './site.js';

/** One way to misbehave. The first rule that fits and has times left applies. */
export interface Fault {
  /** Only requests with this event in them. */
  event?: string;
  /** Only identifies of this user. */
  user?: string;
  /** Only batches of so many records, or more. */
  from?: number;
  /** How many requests it applies to. @default all */
  times?: number;
  status?: number;
  headers?: Record<string, string>;
  /** The body to answer with: a text as it is, anything else as JSON. */
  body?: unknown;
  /** Milliseconds until the request is handled. With `after`, until it is answered. */
  delay?: number;
  /** Never answers. */
  hang?: boolean;
  /** Breaks the connection. */
  reset?: boolean;
  /** Begins its body and never ends it. */
  endless?: boolean;
  /** Handles the request first, and then does the rest. */
  after?: boolean;
}

type Body = Record<string, unknown> & { event?: string; user_id?: string };

/** A request as it came in, whatever became of it. */
export interface Got {
  at: number;
  path: string;
  /** The names of its events, and `identify …` of its users. */
  names: string[];
  bodies: Body[];
  /** Ids of the records of a batch. */
  ids: string[];
  init: RequestInit;
  headers: Headers;
  /** 0 while there is no answer. */
  status: number;
}

type Handle = (request: Got, text: string) => Response | Promise<Response>;

const nameOf = ({ event, user_id }: Body): string => event ?? `identify ${user_id}`;

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
const abortError = () => new DOMException('aborted', 'AbortError');
const NEVER = new Promise<never>(() => undefined);

const faultAnswer = ({ status = 200, headers = {}, body }: Fault): Response => {
  const usual = status < 300 ? { success: true } : { code: status, message: 'Fault' };
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? usual);
  return new Response(/^(204|205|304)$/.test(`${status}`) ? null : text, { status, headers });
};

const withoutEnd = async (response: Response): Promise<Response> => {
  const text = await response.text();
  const start = new TextEncoder().encode(text.slice(0, text.length / 2));
  return new Response(new ReadableStream({ start: (body) => body.enqueue(start) }));
};

/** Something on the way of requests: it notes each, lets it meet its fault, and passes it on. */
const createStation = (handle: Handle) => {
  const requests: Got[] = [];
  let rules: Fault[] = [];

  const takeFault = ({ names, bodies }: Got): Fault => {
    const rule = rules.find(
      ({ event, user, from = 0, times = Infinity }) =>
        times > 0 &&
        names.length >= from &&
        (!event || names.includes(event)) &&
        (!user || bodies.some((body) => body['properties'] && body.user_id === user)),
    );
    if (rule?.times) rule.times--;
    return rule ?? {};
  };

  const answer = async (got: Got, text: string): Promise<Response> => {
    const fault = takeFault(got);
    const { status, headers, delay, hang, reset, endless, after } = fault;
    const handled = after ? await handle(got, text) : undefined;
    if (delay) await pause(delay);
    if (hang) await NEVER;
    if (reset) throw new TypeError('Failed to fetch');
    if (status) return faultAnswer(fault);
    const response = handled ?? (await handle(got, text));
    for (const [name, value] of Object.entries(headers ?? {})) response.headers.set(name, value);
    return endless ? withoutEnd(response) : response;
  };

  const fetch = (async (url: string | URL | Request, init: RequestInit = {}) => {
    const { signal } = init;
    if (signal?.aborted) throw abortError();
    const text = init.body as string;
    const parsed = JSON.parse(text) as Body & Partial<Batch>;
    const bodies = parsed.records?.map(({ body }) => body as Body) ?? [parsed];
    const got: Got = {
      at: Date.now(),
      path: new URL(`${url as string}`).pathname,
      names: bodies.map(nameOf),
      bodies,
      ids: parsed.records?.map(({ id }) => id) ?? [],
      init,
      headers: new Headers(init.headers),
      status: 0,
    };
    requests.push(got);
    const aborted = new Promise<never>((_, reject) =>
      signal?.addEventListener('abort', () => reject(abortError())),
    );
    aborted.catch(() => undefined);
    const response = await Promise.race([answer(got, text), aborted]);
    got.status = response.status;
    return response;
  }) as typeof globalThis.fetch;

  return {
    fetch,
    requests,
    /** The requests with this event in them. */
    of: (name: string) => requests.filter(({ names }) => names.includes(name)),
    /** Sets what goes wrong, in place of what did; none sets it right. */
    faults: (next: readonly Fault[]): void => {
      rules = next.map((rule) => ({ ...rule }));
    },
  };
};

/** A service in memory that takes what the token allows, and knows repeats by their keys. */
export const createService = () => {
  const stored: (Body & { at: number; key: string | null })[] = [];
  const keys = new Set<string>();

  const station = createStation(({ headers, bodies: [body] }) => {
    if (headers.get('authorization') !== `Bearer ${TOKEN}`)
      return Response.json({ code: 401, message: 'no' }, { status: 401 });
    const key = headers.get('idempotency-key');
    if (!key || !keys.has(key)) stored.push({ ...body!, at: Date.now(), key });
    if (key) keys.add(key);
    return Response.json({ success: true });
  });

  return {
    ...station,
    /** What has been stored, in its order. */
    stored: () => stored,
    /** The names of all that has been stored: those of events, and `identify …` of users. */
    names: () => stored.map(nameOf),
    /** What has been stored of this event, or `identify …`. It fails if there is none. */
    one: (name: string) => stored.find((body) => nameOf(body) === name)!,
    has: (names: readonly string[]) =>
      names.every((name) => stored.some((body) => nameOf(body) === name)),
  };
};

export type Service = ReturnType<typeof createService>;

/** The real relay before a service, on the site's own origin. */
export const createRelayTo = (service: Service, options: Partial<RelayOptions> = {}) => {
  const errors: unknown[] = [];
  let token = TOKEN;
  const given: RelayOptions = {
    baseUrl: BASE_URL,
    token: () => token,
    fetch: service.fetch as RelayOptions['fetch'],
    origins: [SITE],
    projects: ['shop'],
    channels: ['web'],
    rateLimit: false,
    onError: (error) => errors.push(error),
    ...options,
  };
  let relay = createRelay(given);
  const station = createStation(({ path }, body) =>
    relay(new Request(SITE + path, { method: 'POST', body, headers: { origin: SITE } })),
  );
  return {
    ...station,
    errors,
    /** Puts another relay in its place, with these options beside its own: a deployment. */
    deploy: (changed: Partial<RelayOptions>): void => {
      relay = createRelay({ ...given, ...changed });
    },
    setToken: (another: string): void => {
      token = another;
    },
  };
};
