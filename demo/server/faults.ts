import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono, type Context, type MiddlewareHandler, type Next } from 'hono';
import { MAX_BODY_BYTES } from '../../src/server/http/body.js';
import { bearerOf } from '../../src/server/tokens.js';
import { checkFaultRules, createFaultSwitch, type FaultRule } from './fault-rules.js';

export interface ServiceEnv {
  Bindings: HttpBindings;
  /** The request as the service gets it, where its body has been read. */
  Variables: { forwarded: Request | undefined };
}
export type ServiceContext = Context<ServiceEnv>;

/** One POST as it came in, whatever became of it. */
export interface LoggedRequest {
  /** Counts on over those that are logged no more. */
  n: number;
  /** When it had arrived whole, in milliseconds since the epoch. */
  at: number;
  path: string;
  /** The parsed body, or `null` when it is not JSON. */
  body: unknown;
  /** The status answered; 0 while there is no answer, and for good when it hung or was reset. */
  status: number;
  idempotency_key: string | null;
  authorization_ok: boolean;
  user_agent: string | null;
}

/** The requests that a fault keeps waiting, so that all of them can be ended at once. */
export const createHeldRequests = () => {
  const cuts = new Set<() => void>();
  return {
    /**
     * Waits the given time, or for ever, and says whether to go on. A client that leaves ends only an endless wait: a
     * slow server still handles what it has received.
     */
    hold: ({ incoming, outgoing }: HttpBindings, ms?: number): Promise<boolean> =>
      new Promise((resolve) => {
        const end = (goOn: boolean) => {
          clearTimeout(timer);
          cuts.delete(cut);
          outgoing.off('close', leave);
          resolve(goOn);
        };
        const leave = () => end(false);
        const cut = () => {
          incoming.socket.destroy();
          end(false);
        };
        const timer = ms === undefined ? undefined : setTimeout(end, ms, true);
        cuts.add(cut);
        if (ms === undefined) outgoing.on('close', leave);
      }),
    /** Ends every wait and its connection; nothing of these requests is handled any more. */
    cutAll: (): void => [...cuts].forEach((cut) => cut()),
  };
};
export type HeldRequests = ReturnType<typeof createHeldRequests>;

const BODYLESS = [204, 205, 304];
/** As the service's own answers: a page may read it. */
const PAGE_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Retry-After',
};

const setHeaders = (target: Headers, headers: NonNullable<FaultRule['headers']>): void => {
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) target.delete(name);
    else target.set(name, value);
  }
};

const faultAnswer = (status: number, { body, headers = {} }: FaultRule): Response => {
  const usual =
    status < 300 ? { success: true, message: 'Fault' } : { code: status, message: 'Fault' };
  const all = new Headers(PAGE_HEADERS);
  const hasBody = !BODYLESS.includes(status);
  if (hasBody) all.set('content-type', 'application/json');
  setHeaders(all, headers);
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? usual);
  return new Response(hasBody ? text : null, { status, headers: all });
};

/** Hono would copy the headers of the first answer to the second. */
const replaceAnswer = (c: ServiceContext, response: Response): void => {
  c.res = undefined;
  c.res = response;
};
const sendNothing = (c: ServiceContext): 0 => {
  replaceAnswer(c, RESPONSE_ALREADY_SENT);
  return 0;
};

/** Lets the request meet the rule. Says the status answered: 0 when there was no answer. */
const applyFault = async (
  c: ServiceContext,
  next: Next,
  { rule, held }: { rule: FaultRule; held: HeldRequests },
): Promise<number> => {
  if (rule.after) await next();
  if (rule.delay !== undefined && !(await held.hold(c.env, rule.delay))) return sendNothing(c);
  if (rule.hang) {
    await held.hold(c.env);
    return sendNothing(c);
  }
  if (rule.reset) {
    c.env.incoming.socket.resetAndDestroy();
    return sendNothing(c);
  }
  if (rule.status !== undefined) replaceAnswer(c, faultAnswer(rule.status, rule));
  else if (!rule.after) await next();
  if (rule.status === undefined && rule.headers) setHeaders(c.res.headers, rule.headers);
  return c.res.status;
};

/** The bytes of a body. Of one that is too large only so many that the service refuses it. */
const readBytes = async ({ body }: Request): Promise<Blob> => {
  const chunks: BlobPart[] = [];
  let size = 0;
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) break;
  }
  return new Blob(chunks);
};

/** The parsed body, or null. The service gets a request of its own with what was read. */
const readBody = async (c: ServiceContext): Promise<unknown> => {
  const { url, method, headers } = c.req.raw;
  // One that says itself that it is too large is refused unread.
  const isRead = method === 'POST' && !(Number(headers.get('content-length')) > MAX_BODY_BYTES);
  if (!isRead) return null;
  const body = await readBytes(c.req.raw).catch(() => new Blob()); // the client has left
  c.set('forwarded', new Request(url, { method, headers, body }));
  try {
    const bytes = await body.arrayBuffer();
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return null;
  }
};

/** As many of the newest are logged: a demo may run for days. */
const MOST_REQUESTS = 500;

interface Parts {
  tokens: readonly string[];
  held: HeldRequests;
  deleteRows: (tag?: string) => Promise<void>;
}

/** The fault switch and the request log: a middleware for the two operations, and the routes that set and show both. */
export const createFaults = ({ tokens, held, deleteRows }: Parts) => {
  const faults = createFaultSwitch();
  let requests: LoggedRequest[] = [];

  /** Logs each request and lets it meet its fault, before the token and the body are looked at. */
  const middleware: MiddlewareHandler<ServiceEnv> = async (c, next) => {
    if (c.req.method === 'OPTIONS') return next();
    const { path } = c.req;
    const body = await readBody(c);
    const entry = {
      ...{ n: (requests.at(-1)?.n ?? 0) + 1, at: Date.now(), path, body, status: 0 },
      idempotency_key: c.req.header('idempotency-key') || null,
      authorization_ok: tokens.includes(bearerOf(c.req.raw) ?? ''),
      user_agent: c.req.header('user-agent') ?? null,
    };
    if (c.req.method === 'POST') requests = [...requests, entry].slice(-MOST_REQUESTS);
    const rule = faults.take({ path, body });
    if (!rule) await next();
    entry.status = rule ? await applyFault(c, next, { rule, held }) : c.res.status;
  };

  const done = (c: ServiceContext, what: string) =>
    c.json({ success: true, message: `${what} cleared` });

  const routes = new Hono<ServiceEnv>()
    .get('/faults', (c) => c.json({ faults: faults.list() }))
    .put('/faults', async (c) => {
      const rules = await c.req.json<unknown>().catch(() => undefined);
      const message = checkFaultRules(rules);
      if (message !== undefined) return c.json({ code: 400, message }, 400);
      faults.set(rules as FaultRule[]);
      return c.json({ faults: faults.list() });
    })
    .delete('/faults', (c) => {
      faults.set([]);
      held.cutAll();
      return done(c, 'Faults');
    })
    .get('/requests', (c) => c.json({ requests }))
    .delete('/requests', (c) => {
      requests = [];
      return done(c, 'Requests');
    })
    .delete('/all', async (c) => {
      held.cutAll();
      await deleteRows(c.req.query('with'));
      faults.set([]); // not before: what another tab delivers as soon as it can must stay
      requests = [];
      return done(c, 'Everything');
    });
  return { middleware, routes };
};
