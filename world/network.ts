import { BATCH_PATH, type Batch, type BatchResult } from '../src/interface/wire.js';
import type { Dice } from './dice.js';
import type { Judge } from './judge.js';
import { BAD, DISLIKED, treat, type ServiceMode, type Treatment } from './service.js';
import type { Timeline } from './timeline.js';

interface User {
  name: string;
  task: (ms: number, run: () => void) => void;
}

/** The state of the network and the service. */
export interface Conditions {
  service: ServiceMode;
  isOnline: boolean;
  /** Another script of the page has used the keepalive budget up. */
  isBudgetTaken: boolean;
  /** Something on the way dislikes some records. */
  dislikes: boolean;
  /** The token that the service accepts. */
  token: string;
}

interface Effects {
  timeline: Timeline;
  dice: Dice;
  conditions: Conditions;
  /** The page hears in a later task that the browser refused a request because of the keepalive budget. */
  saysLate: boolean;
  /** The service, or the relay before it, recognises repeats. */
  knowsRepeats: boolean;
  judge: Judge;
  /** A request starts, in the page's own task. */
  onStart: (request: Request) => void;
}

/** A request, as the world sees it. */
export interface Request {
  user: User;
  destination: string;
  ids: string[];
  body: string;
  key: string | undefined;
  token: string;
  keepalive: boolean;
  hasArrived: boolean;
  /** The browser gave it up before it reached the service. */
  isCancelled: boolean;
  reject: (error: Error) => void;
}

/** Bytes of bodies in flight under keepalive (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch). */
const BUDGET = 65_536;

interface Body {
  event?: string;
  user_id?: string;
  properties?: { n?: string };
}
export const nameOfBody = ({ event, properties }: Body): string => event ?? properties?.n ?? '';

const failed = () => new TypeError('Failed to fetch');

/** Carries requests from pages to the service, and answers back, or loses them. */
export const createNetwork = (effects: Effects) => {
  const { timeline, dice, conditions, saysLate, knowsRepeats, judge, onStart } = effects;
  const going = new Set<Request>();
  /** Keys of the records that the service has seen. */
  const known = new Set<string>();

  const flightOf = (page: string) => [...going].filter(({ user }) => user.name === page);
  const isOverBudget = (page: string, body: string): boolean => {
    const used = flightOf(page).filter(({ keepalive }) => keepalive);
    return (
      conditions.isBudgetTaken ||
      used.reduce((sum, request) => sum + request.body.length, body.length) > BUDGET
    );
  };

  const store = (name: string, key: string | undefined) => {
    const id = judge.idOf(name);
    if (knowsRepeats && key !== id) judge.violate('ids', `${name} came with the key ${key}`);
    if (knowsRepeats && known.has(key!)) return;
    known.add(id);
    judge.stored(id);
  };

  const refusal = () =>
    dice.pick([
      { status: 400, body: '{"code":400,"message":"Invalid request data"}' },
      { status: 422, body: '' },
      { status: 200, body: '{"success":false,"message":"no"}' },
    ]);

  const isDisliked = (name: string) => conditions.dislikes && name.includes(DISLIKED);
  const dislike = () => ({ status: dice.pick([403, 404, 500]), body: '' });

  /** The service receives one record. */
  const serveOne = ({ token, body, key }: Request): Treatment => {
    const treatment = treat(conditions.service, dice);
    if (!treatment.stores) return treatment;
    if (token !== `Bearer ${conditions.token}`)
      return { ...treatment, answer: { status: 401, body: '' } };
    const name = nameOfBody(JSON.parse(body) as Body);
    if (isDisliked(name)) return { ...treatment, answer: dislike() };
    if (name.includes(BAD)) return { ...treatment, answer: refusal() };
    store(name, key);
    return treatment;
  };

  /** A relay receives a batch. It recognises repeats. */
  const serveBatch = (request: Request): Treatment => {
    const whole = treat(conditions.service, dice);
    if (!whole.stores) return whole;
    const held = new Set<string>();
    const { records } = JSON.parse(request.body) as Batch;
    const results = records.map(({ id, type, body }): BatchResult => {
      const { user_id: user = '' } = body as Body;
      const name = nameOfBody(body);
      // A relay keeps the order of a user's records.
      if (held.has(user)) return { id, outcome: 'retry', status: 503 };
      if (isDisliked(name)) return { id, outcome: 'blocked', status: 404 };
      if (name.includes(BAD)) return { id, outcome: 'rejected', status: 400 };
      if (conditions.service === 'flaky' && dice.chance(0.3)) {
        if (type === 'identify') held.add(user);
        const wait = dice.chance(0.3) ? dice.between(1, 30) : undefined;
        return { id, outcome: 'retry', status: 503, ...(wait && { retry_after: wait }) };
      }
      store(name, id);
      return { id, outcome: dice.chance(0.9) ? 'delivered' : 'accepted', status: 200 };
    });
    if (typeof whole.answer !== 'object') return whole;
    const retryAfter = Math.max(0, ...results.map(({ retry_after }) => retry_after ?? 0));
    return { ...whole, answer: { status: 200, body: JSON.stringify({ results }), retryAfter } };
  };

  const begin = (user: User, url: string, init: RequestInit): Request => {
    const body = init.body as string;
    const headers = (init.headers ?? {}) as Record<string, string>;
    const isBatch = url.endsWith(BATCH_PATH);
    const ids = isBatch
      ? (JSON.parse(body) as Batch).records.map(({ id }) => id)
      : [judge.idOf(nameOfBody(JSON.parse(body) as Body))];
    const request: Request = {
      user,
      destination: url.replace(/\/v1\/.*/, ''),
      ids,
      body,
      key: headers['idempotency-key'],
      token: headers['authorization'] ?? '',
      keepalive: init.keepalive === true,
      hasArrived: false,
      isCancelled: false,
      reject: () => undefined,
    };
    going.add(request);
    onStart(request);
    return request;
  };

  /** Takes the request to the service, and the answer back. `answer` gets nothing if the connection breaks. */
  const carry = (request: Request, answer: (given?: Treatment['answer']) => void) => {
    const serve = request.body.startsWith('{"sent_at"') ? serveBatch : serveOne;
    timeline.after(dice.between(2, 60), () => {
      if (request.isCancelled) return;
      if (!conditions.isOnline || conditions.service === 'down') return answer();
      request.hasArrived = true;
      const treatment = serve(request);
      if (treatment.answer === 'never') return;
      timeline.after(treatment.takes + dice.between(1, 40), () => answer(treatment.answer));
    });
  };

  return {
    fetch: (user: User, url: string, init: RequestInit): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const { signal } = init;
        const aborted = () => Object.assign(new Error('aborted'), { name: 'AbortError' });
        if (signal?.aborted) return reject(aborted());
        if (init.keepalive && isOverBudget(user.name, init.body as string)) {
          // Chromium rejects in a later task, Firefox at once (measured).
          return saysLate ? user.task(1, () => reject(failed())) : reject(failed());
        }
        const request = begin(user, url, init);
        request.reject = reject;
        signal?.addEventListener('abort', () => {
          if (!going.delete(request)) return;
          request.isCancelled = !request.hasArrived;
          reject(aborted());
        });
        carry(request, (answer) =>
          user.task(0, () => {
            if (!going.delete(request)) return;
            if (typeof answer !== 'object') return reject(failed());
            const { status, body, retryAfter } = answer;
            judge.answered(user.name, request.ids, retryAfter);
            const headers = { get: () => (retryAfter ? String(retryAfter) : null) };
            resolve({ status, text: async () => body, headers });
          }),
        );
      }),
    /** `sendBeacon`: false when the browser does not accept it. */
    beacon: (user: User, url: string, body: string): boolean => {
      if (isOverBudget(user.name, body)) return false;
      const request = begin(user, url, { body, keepalive: true });
      carry(request, () => going.delete(request));
      return true;
    },
    isIdle: (page: string): boolean => flightOf(page).length === 0,
    /** Whether a request without keepalive is under way, which no storage names. */
    hasUnkept: (page: string): boolean => flightOf(page).some(({ keepalive }) => !keepalive),
    /** In Chromium, a page that is left sees its requests fail before it hears that it is left. */
    failAll: (page: string): void => {
      for (const { reject } of flightOf(page)) reject(failed());
    },
    /** The page is gone. The browser usually completes the requests that were sent with keepalive. */
    leaveBehind: (page: string, survives: () => boolean): void => {
      for (const request of flightOf(page)) {
        request.isCancelled = !request.hasArrived && !(request.keepalive && survives());
        going.delete(request);
      }
    },
  };
};

export type Network = ReturnType<typeof createNetwork>;
