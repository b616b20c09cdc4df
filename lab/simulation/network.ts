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

/** How things stand between pages and services. */
export interface Conditions {
  service: ServiceMode;
  isOnline: boolean;
  /** Another script of the page has used the keepalive budget up. */
  isBudgetTaken: boolean;
  /** Tokens that the service takes. */
  token: string;
  /** It removes repeats. */
  knowsRepeats: boolean;
}

interface Effects {
  timeline: Timeline;
  dice: Dice;
  conditions: Conditions;
  /** A refusal for the keepalive budget comes in a later task. */
  saysLate: boolean;
  ledger: Ledger;
  /** A request starts, in the page's own task. */
  onStart: (attempt: Attempt) => void;
  /** The page is about to hear the answer. */
  onAnswer: (attempt: Attempt) => void;
  /** The page is about to hear that it has to wait so many seconds. */
  onWait: (page: string, destination: string, seconds: number) => void;
  note: (line: string) => void;
}

interface Sent {
  attempt: Attempt;
  user: User;
  size: number;
  /** Its page does not wait for it any more, and it has not arrived: it never will. */
  isCancelled: boolean;
  hasArrived: boolean;
  reject: (error: Error) => void;
}

/** Bytes of bodies in flight under keepalive (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch). */
const BUDGET = 65_536;

const nameOfBody = (body: { event?: string; properties?: { n?: string } }): string =>
  body.event ?? body.properties?.n ?? '';

const failed = () => new TypeError('Failed to fetch');

/** Carries requests of pages to services, or does not. */
export const createNetwork = (effects: Effects) => {
  const { timeline, dice, conditions, saysLate, ledger, onStart, onAnswer, onWait, note } = effects;
  const going = new Set<Sent>();
  /** Keys that the service knows. */
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

  /** One record straight to the service. */
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
      return { ...treatment, stores: false, answer: refusal() };
    }
    store(sent.attempt, name, headers['idempotency-key'] ?? null);
    return treatment;
  };

  /** Many, to a relay that knows repeats. */
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
    return { user, size, isCancelled: false, hasArrived: false, reject: () => undefined, attempt };
  };

  const begin = (sent: Sent) => {
    going.add(sent);
    onStart(sent.attempt);
    ledger.started(sent.attempt);
  };

  /** Nobody answers, and the page hears so. */
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
        const body = init.body as string;
        const isKept = init.keepalive === true;
        if (isKept && (conditions.isBudgetTaken || used(user.name) + body.length > BUDGET)) {
          for (const id of idsOf(url, body)) ledger.overBudget(id);
          // Chromium says so later; Firefox at once (measured).
          return saysLate ? user.task(1, () => reject(failed())) : reject(failed());
        }
        const sent = createSent(user, url, body, isKept);
        sent.reject = reject;
        begin(sent);
        init.signal?.addEventListener('abort', () => {
          if (!going.has(sent)) return;
          sent.isCancelled = !sent.hasArrived;
          end(sent, 'failed');
          reject(Object.assign(new Error('aborted'), { name: 'AbortError' }));
        });
        const serve = () =>
          url.endsWith(BATCH_PATH) ? serveBatch(sent, body) : serveOne(sent, init);
        timeline.after(dice.between(2, 60), () =>
          arrive(sent, serve, ({ answer }) =>
            user.task(0, () => {
              if (!going.has(sent) || typeof answer !== 'object') return;
              const { status, body: text, retryAfter } = answer;
              end(sent, 'answered');
              onAnswer(sent.attempt);
              if (retryAfter) onWait(user.name, sent.attempt.destination, retryAfter);
              const headers = { get: () => (retryAfter ? String(retryAfter) : null) };
              resolve({ status, text: async () => text, headers });
            }),
          ),
        );
      }),
    /** A request without an answer; false where the browser takes none. */
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
    /** In Chromium, requests of a page that goes away fail in its own eyes, before it hears that it goes. */
    failAll: (page: string): void => {
      for (const sent of going) if (sent.attempt.page === page) sent.reject(failed());
    },
    /** The page is gone. The browser goes on with what it was asked to keep alive, mostly. */
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
