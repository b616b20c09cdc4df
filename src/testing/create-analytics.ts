import { isConsent, resolveOptions, type Settings } from '../client/options.js';
import { attempt } from '../interface/attempt.js';
import { isGpcOn } from '../client/page.js';
import { recordOf, refuse, type Refusal } from '../client/record.js';
import type {
  Analytics,
  Consent,
  DisabledOptions,
  Drop,
  Emit,
  EventMap,
  Options,
  OutboxRecord,
  RecordType,
  Status,
} from '../client/types.js';
import { messageOf } from '../interface/errors.js';
import { readRows } from './rows.js';
import type { RecordedCall, TestAnalytics } from './types.js';

type Listener = (payload: unknown) => void;

/** The path of a relay is relative to this address, since there may be no page. */
const ADDRESS = 'https://test.example/';

const resolve = (options: Options | DisabledOptions): Settings =>
  resolveOptions(options as Options, ADDRESS, true);

const BEFORE_INIT = /* @__PURE__ */ resolve({ relay: ADDRESS, project: 'test', channel: 'test' });

/**
 * Makes an instance that records what would be sent, and sends nothing: no request, no storage, no timer. It has
 * the name of what it stands in for, so that this module can replace `analytics-outbox` in a test.
 * @example
 * vi.mock('analytics-outbox', () => import('analytics-outbox/testing'));
 */
export const createAnalytics = <
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
>(
  options?: Options | DisabledOptions,
): TestAnalytics<Events, Traits> => {
  let settings = BEFORE_INIT;
  let user: string | undefined;
  /** What `setConsent` was last called with. */
  let said: Consent | undefined;
  /** Records in the order of their calls. Those made while consent is pending are held until it is granted. */
  const records = new Map<OutboxRecord, 'held' | 'waiting' | 'delivered'>();
  const calls: RecordedCall[] = [];
  const drops: Drop[] = [];
  const listeners = new Map<string, Set<Listener>>();

  const emit: Emit = (type, payload) => {
    const option = type === 'drop' ? settings.onDrop : undefined;
    for (const listener of [option as Listener | undefined, ...(listeners.get(type) ?? [])]) {
      attempt(() => listener?.(payload)); // one that throws must not stop the others
    }
  };

  const drop = (dropped: Drop): void => {
    drops.push(dropped);
    emit('drop', dropped);
  };

  const now = (): number => attempt(() => settings.now?.()) ?? Date.now();

  const consent = (): Consent =>
    settings.respectGpc && attempt(isGpcOn) ? 'denied' : (said ?? settings.consent ?? 'granted');

  const paused = (): Status['paused'] => {
    if (settings === BEFORE_INIT) return 'not-started';
    if (settings.disabled) return 'disabled';
    return consent() === 'granted' ? undefined : 'consent';
  };

  const delivered = (): number =>
    [...records.values()].filter((state) => state === 'delivered').length;

  const note = (method: RecordedCall['method'], args: unknown[]): void =>
    void calls.push({ method, args });

  const accept = (type: RecordType, args: unknown[]): void => {
    note(type, args);
    if (settings.disabled) return;
    const [subject, given] = args;
    const admit = () => {
      if (consent() === 'denied') refuse('consent-denied');
    };
    try {
      admit();
      const record = recordOf({ type, at: now(), subject, given }, settings, user);
      admit(); // `context` or `beforeSend` may have denied it
      if (type === 'identify') user = String(subject);
      emit('record', { ...record });
      admit(); // a listener may
      records.set(record, consent() === 'pending' ? 'held' : 'waiting');
    } catch (error) {
      const reason = (error as Refusal | null)?.reason ?? 'not-serializable';
      drop({ reason, message: messageOf(error) });
    }
  };

  const applyConsent = (): void => {
    if (consent() === 'denied') user = undefined;
    for (const [record, state] of records) {
      if (consent() === 'granted' && state === 'held') records.set(record, 'waiting');
      if (consent() !== 'denied' || state === 'delivered') continue;
      records.delete(record);
      drop({ reason: 'consent-denied', message: 'consent-denied', record: { ...record } });
    }
    const isOff = settings === BEFORE_INIT || settings.disabled;
    if (!isOff) emit('consent', { consent: consent() });
  };

  const start = (given: Options | DisabledOptions): void => {
    settings = resolve(given);
    applyConsent();
  };
  if (options) start(options);

  const analytics: Analytics = {
    init: (given: Options | DisabledOptions) => {
      note('init', [given]);
      start(given);
    },
    identify: (...args: unknown[]) => accept('identify', args),
    event: (...args: unknown[]) => accept('event', args),
    flush: () => {
      note('flush', []);
      const before = delivered();
      for (const [record, state] of [...records]) {
        if (state !== 'waiting' || consent() !== 'granted') continue;
        records.set(record, 'delivered');
        emit('sent', { record: { ...record }, handoff: false });
        emit('outcome', { record: { ...record }, outcome: 'delivered', status: 200 });
      }
      return Promise.resolve({
        delivered: delivered() - before,
        retried: 0,
        rejected: 0,
        waiting: records.size - delivered(),
      });
    },
    reset: () => {
      note('reset', []);
      if (settings.disabled) return;
      user = undefined;
      emit('reset', {});
    },
    setConsent: (given) => {
      note('setConsent', [given]);
      if (!isConsent(given)) return drop({ reason: 'invalid-call', message: 'setConsent' });
      const before = consent();
      said = given;
      if (consent() !== before) applyConsent();
    },
    status: () => {
      const dropped: Status['dropped'] = {};
      for (const { reason } of drops) dropped[reason] = (dropped[reason] ?? 0) + 1;
      return {
        storage: consent() === 'granted' ? 'memory' : 'none',
        consent: consent(),
        waiting: records.size - delivered(),
        elsewhere: 0,
        inFlight: 0,
        delivered: delivered(),
        unknown: 0,
        dropped,
        paused: paused(),
        userId: user,
      };
    },
    stop: () => {
      note('stop', []);
      listeners.clear();
      settings = BEFORE_INIT;
    },
    on: (type, listener) => {
      const set = listeners.get(type) ?? new Set();
      listeners.set(type, set.add(listener as Listener));
      return () => set.delete(listener as Listener);
    },
  };

  return {
    ...(analytics as unknown as Analytics<Events, Traits>),
    ...readRows<Events>(() => [...records.keys()].filter((one) => records.get(one) !== 'held')),
    calls: () => calls.map(({ method, args }) => ({ method, args: [...args] })),
    drops: () => [...drops],
    clear: () => {
      calls.length = drops.length = 0;
      records.clear();
      user = said = undefined;
    },
  };
};

/** A ready-made instance, in place of the one of `analytics-outbox`. */
export const analytics: TestAnalytics = /* @__PURE__ */ createAnalytics();
