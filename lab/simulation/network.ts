import { BATCH_PATH, type Batch, type BatchResult } from '../../src/interface/wire.js';
import type { Attempt } from './fate.js';
import type { Ledger } from './ledger.js';
import type { Dice } from '../random.js';
import { BAD, treat, type ServiceMode, type Treatment } from './service.js';
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
  /** The token that the service accepts. */
  token: string;
  /** The service removes repeats. */
  knowsRepeats: boolean;
}

interface Effects {
  timeline: Timeline;
  dice: Dice;
  conditions: Conditions;
  /** The page hears in a later task that the browser refused a request because of the keepalive budget. */
  saysLate: boolean;
  ledger: Ledger;
  /** A request starts, in the page's own task. */
  onStart: (attempt: Attempt) => void;
  /** The page is about to hear that the service has taken a record, or refused it in a proper way. */
  onTaken: (attempt: Attempt) => void;
  /** The page is about to hear a `Retry-After` of this many seconds. */
  onWait: (page: string, destination: string, seconds: number) => void;
  note: (line: string) => void;
}

interface Sent {
  attempt: Attempt;
  user: User;
  size: number;
  /** The browser gave the request up before it reached the service. */
  isCancelled: boolean;
  hasArrived: boolean;
  /** The service has taken a record of it, or refused one in a proper way. */
  isTaken: boolean;
  reject: (error: Error) => void;
}

/** Bytes of bodies in flight under keepalive (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch). */
const BUDGET = 65_536;

const nameOfBody = (body: { event?: string; properties?: { n?: string } }): string =>
  body.event ?? body.properties?.n ?? '';

const failed = () => new TypeError('Failed to fetch');

/** Carries requests from pages to the service, and answers back, or loses them. */
export const createNetwork = (effects: Effects) => {
  const { timeline, dice, conditions, saysLate, ledger, onStart, onTaken, onWait, note } = effects;
  const going = new Set<Sent>();
  /** Ids of the records that the service has seen. */
  const known = new Set<string>();

  const used = (page: string): number =>
    [...going].reduce(
      (sum, { attempt, size }) => sum + (attempt.page === page && attempt.keepalive ? size : 0),
      0,
    );

  const store = (attempt: Attempt, name: string, key: string | null) => {
    const fate = ledger.byName(name);
    if (!fate) return;
    if (conditions.knowsRepeats) {
      if (key !== fate.id) note(`!! ${name} came with the key ${key}`);
      if (known.has(fate.id)) {
        attempt.stored.add(fate.id);
        return;
      }
      known.add(fate.id);
    }
    ledger.stored(fate, attempt);
  };

  const refusal = () =>
    dice.pick([
      { status: 400, body: '{"code":400,"message":"Invalid request data"}' },
      { status: 422, body: '' },
      { status: 200, body: '{"success":false,"message":"no"}' },
    ]);

  /** The service receives one record. */
  const serveOne = (sent: Sent, init: RequestInit): Treatment => {
    const headers = init.headers as Record<string, string>;
    const treatment = treat(conditions.service, dice);
    if (headers.authorization !== `Bearer ${conditions.token}` && treatment.stores) {
      return { ...treatment, stores: false, answer: { status: 401, body: '' } };
    }
    const name = nameOfBody(JSON.parse(init.body as string) as Parameters<typeof nameOfBody>[0]);
    if (!treatment.stores) return treatment;
    if (name.includes(BAD)) {
      ledger.refused(name);
      sent.isTaken = true;
      return { ...treatment, stores: false, answer: refusal() };
    }
    sent.isTaken = true;
    store(sent.attempt, name, headers['idempotency-key'] ?? null);
    return treatment;
  };

  /** A relay receives a batch. It knows repeats. */
  const serveBatch = (sent: Sent, text: string): Treatment => {
    const { records } = JSON.parse(text) as Batch;
    const whole = treat(conditions.service, dice);
    if (!whole.stores) return whole;
    const held = new Set<string>();
    const results = records.map(({ id, type, body }): BatchResult => {
      const name = nameOfBody(body);
      const { user_id: user = '' } = body as { user_id?: string };
      // A relay keeps the order of a user's records.
      if (held.has(user)) return { id, outcome: 'retry', status: 503 };
      if (name.includes(BAD)) {
        ledger.refused(name);
        return { id, outcome: 'rejected', status: 400 };
      }
      if (conditions.service === 'flaky' && dice.chance(0.3)) {
        if (type === 'identify') held.add(user);
        const wait = dice.chance(0.3) ? { retry_after: dice.between(1, 30) } : {};
        return { id, outcome: 'retry', status: 503, ...wait };
      }
      store(sent.attempt, name, id);
      return { id, outcome: dice.chance(0.9) ? 'delivered' : 'accepted', status: 200 };
    });
    sent.isTaken = results.some(({ outcome }) => outcome !== 'retry');
    const longest = Math.max(0, ...results.map(({ retry_after }) => retry_after ?? 0));
    if (typeof whole.answer !== 'object') return whole;
    const answer = { status: 200, body: JSON.stringify({ results }), retryAfter: longest };
    return { ...whole, answer };
  };

  const end = (sent: Sent, how: NonNullable<Attempt['end']>) => {
    going.delete(sent);
    ledger.ended(sent.attempt, how);
  };

  const idsOf = (url: string, body: string): string[] => {
    if (url.endsWith(BATCH_PATH)) {
      return (JSON.parse(body) as Batch).records.map(({ id }) => id);
    }
    const name = nameOfBody(JSON.parse(body) as Parameters<typeof nameOfBody>[0]);
    return [ledger.byName(name)?.id ?? name];
  };

  const createSent = (user: User, url: string, body: string, keepalive: boolean): Sent => {
    const ids = idsOf(url, body);
    const attempt: Attempt = {
      page: user.name,
      destination: url.replace(/\/v1\/.*/, ''),
      ids,
      keepalive,
      startedAt: timeline.now(),
      isHidden: false,
      stored: new Set(),
      reports: ledger.fates.get(ids[0]!)?.reports ?? 0,
      end: undefined,
      endedAt: Infinity,
    };
    const size = body.length;
    return {
      user,
      size,
      isCancelled: false,
      hasArrived: false,
      isTaken: false,
      reject: () => undefined,
      attempt,
    };
  };

  const begin = (sent: Sent) => {
    going.add(sent);
    onStart(sent.attempt);
    ledger.started(sent.attempt);
  };

  /** The request fails without an answer, and the page hears of it. */
  const breakOff = (sent: Sent) => {
    sent.user.task(0, () => {
      end(sent, 'failed');
      sent.reject(failed());
    });
  };

  const arrive = (sent: Sent, serve: () => Treatment, answer: (treatment: Treatment) => void) => {
    if (sent.isCancelled) return;
    if (!conditions.isOnline || conditions.service === 'down') return breakOff(sent);
    sent.hasArrived = true;
    const treatment = serve();
    if (treatment.answer === 'never') return;
    timeline.after(treatment.takes + dice.between(1, 40), () => {
      if (treatment.answer) answer(treatment);
      else breakOff(sent);
    });
  };

  return {
    fetch: (user: User, url: string, init: RequestInit): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const aborted = () => Object.assign(new Error('aborted'), { name: 'AbortError' });
        if (init.signal?.aborted) return reject(aborted());
        const body = init.body as string;
        const isKept = init.keepalive === true;
        if (isKept && (conditions.isBudgetTaken || used(user.name) + body.length > BUDGET)) {
          for (const id of idsOf(url, body)) ledger.overBudget(id);
          // Chromium rejects in a later task, Firefox at once (measured).
          return saysLate ? user.task(1, () => reject(failed())) : reject(failed());
        }
        const sent = createSent(user, url, body, isKept);
        sent.reject = reject;
        begin(sent);
        init.signal?.addEventListener('abort', () => {
          if (!going.has(sent)) return;
          sent.isCancelled = !sent.hasArrived;
          end(sent, 'failed');
          reject(aborted());
        });
        const serve = () =>
          url.endsWith(BATCH_PATH) ? serveBatch(sent, body) : serveOne(sent, init);
        timeline.after(dice.between(2, 60), () =>
          arrive(sent, serve, ({ answer }) =>
            user.task(0, () => {
              if (!going.has(sent) || typeof answer !== 'object') return;
              const { status, body: text, retryAfter } = answer;
              end(sent, 'answered');
              if (sent.isTaken) onTaken(sent.attempt);
              if (retryAfter) onWait(user.name, sent.attempt.destination, retryAfter);
              const headers = { get: () => (retryAfter ? String(retryAfter) : null) };
              resolve({ status, text: async () => text, headers });
            }),
          ),
        );
      }),
    /** `sendBeacon`: false when the browser does not accept it. */
    beacon: (user: User, url: string, body: string): boolean => {
      if (conditions.isBudgetTaken || used(user.name) + body.length > BUDGET) return false;
      const sent = createSent(user, url, body, true);
      begin(sent);
      timeline.after(dice.between(2, 60), () => {
        arrive(
          sent,
          () => serveBatch(sent, body),
          () => end(sent, 'left'),
        );
      });
      return true;
    },
    /** In Chromium, a page that is left sees its requests fail before it hears that it is left. */
    failAll: (page: string): void => {
      for (const sent of going) if (sent.attempt.page === page) sent.reject(failed());
    },
    /** The page is gone. The browser usually completes the requests that were sent with keepalive. */
    leaveBehind: (page: string, how: 'left' | 'killed', survives: () => boolean): void => {
      for (const sent of [...going]) {
        if (sent.attempt.page !== page) continue;
        sent.isCancelled = !sent.hasArrived && !(sent.attempt.keepalive && survives());
        end(sent, how);
      }
    },
  };
};

export type Network = ReturnType<typeof createNetwork>;
