import { createAccept } from '../client/accept.js';
import { isGpcOn } from '../client/browser/is-gpc-on.js';
import { readClock } from '../client/config/clock.js';
import { anyForm } from '../client/config/forms.js';
import { isConsent, resolveOptions, type Settings } from '../client/config/options.js';
import { createHint } from '../client/hint.js';
import { captureEvent, captureIdentify, type Call, type Made } from '../client/record/call.js';
import { createTally } from '../client/status.js';
import type { Consent, DisabledOptions, EventMap, Options, OutboxRecord } from '../client/types.js';
import { createHearers } from './hearers.js';
import { readRows } from './rows.js';
import type { RecordedCall, TestAnalytics } from './types.js';

/** What a relay's path is relative to where there is no page. */
const ADDRESS = 'https://test.example/';

const resolve = (options: object): Settings => resolveOptions(options as Options, ADDRESS, anyForm);

const BEFORE_INIT = { baseUrl: ADDRESS, token: 'test', project: 'test', channel: 'test' };

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
  let settings = resolve(BEFORE_INIT);
  let isStarted = false;
  let user: string | undefined;
  let said: Consent | undefined;
  const calls: RecordedCall[] = [];
  /** Records made while consent is pending: nobody gets them yet. */
  const held: OutboxRecord[] = [];
  const kept: OutboxRecord[] = [];
  /** Of those that are kept, the ones that no `flush` has delivered. */
  const waiting = new Set<OutboxRecord>();

  const hearers = createHearers(() => settings);
  const { emit, on, drops, errors } = hearers;
  let tally = createTally(emit);
  const consent = (): Consent =>
    settings.respectGpc && 'navigator' in globalThis && isGpcOn()
      ? 'denied'
      : (said ?? settings.consent ?? 'granted');

  let hint = createHint(emit);

  const keep = (record: OutboxRecord): void => {
    if (consent() === 'pending') held.push(record);
    else waiting.add(kept[kept.push(record) - 1]!);
  };

  const makeRecord = createAccept({
    settings: () => settings,
    consent: { current: consent },
    identity: { current: () => user, set: (id) => (user = id ?? undefined) },
    keep,
    drop: (...args) => tally.drop(...args),
    emit,
  });
  const accept = (captured: Made<Call>, more: unknown[]): void => {
    if (!settings.disabled) makeRecord(captured, more, hint);
  };

  /** What waits, and who it was, goes with a denial. */
  const forget = (): void => {
    user = undefined;
    for (const record of [...held.splice(0), ...waiting]) {
      if (waiting.delete(record)) kept.splice(kept.indexOf(record), 1);
      tally.drop('consent-denied', 'consent was denied', record);
    }
  };

  /** What listeners were told last; nothing before `init`. */
  let told: Consent | undefined;
  const applyConsent = (): void => {
    if (consent() === 'denied') forget();
    if (consent() === 'granted') held.splice(0).forEach(keep);
    if (!isStarted || told === consent()) return;
    told = consent();
    emit('consent', () => ({ consent: consent() }));
  };

  const start = (given: object): void => {
    settings = resolve(given);
    isStarted = true;
    applyConsent();
  };
  if (options) start(options);

  const now = (): number => readClock(settings.now);
  const note = (method: RecordedCall['method'], args: unknown[]): void =>
    void calls.push({ method, args });

  return {
    init: (given: object) => {
      note('init', [given]);
      start(given);
    },
    identify: (...args: unknown[]) => {
      note('identify', args);
      const [userId, properties, ...more] = args;
      accept(captureIdentify(now(), userId, properties), more);
    },
    event: (...args: unknown[]) => {
      note('event', args);
      const [name, fields, ...more] = args;
      accept(captureEvent(now(), name, fields), more);
    },
    flush: () => {
      note('flush', []);
      const due = [...waiting];
      waiting.clear();
      for (const record of due) {
        emit('sent', () => ({ record: { ...record }, handoff: false }));
        tally.outcome(record, 'delivered', 200);
      }
      return Promise.resolve({
        delivered: due.length,
        retried: 0,
        rejected: 0,
        waiting: held.length,
      });
    },
    reset: () => {
      note('reset', []);
      user = undefined;
      emit('reset', () => ({}));
    },
    setConsent: (given) => {
      note('setConsent', [given]);
      if (!isConsent(given)) {
        return tally.drop('invalid-call', 'expected consent to be granted, pending or denied');
      }
      said = given;
      applyConsent();
    },
    status: () => ({
      storage: consent() === 'granted' ? 'memory' : 'none',
      consent: consent(),
      waiting: held.length + waiting.size,
      elsewhere: 0,
      inFlight: 0,
      ...tally.counts(),
      paused: !isStarted
        ? 'not-started'
        : settings.disabled
          ? 'disabled'
          : consent() === 'granted'
            ? undefined
            : 'consent',
      nextAttempt: undefined,
      userId: user,
    }),
    stop: () => {
      note('stop', []);
      hearers.clear();
      settings = resolve(BEFORE_INIT);
      isStarted = false;
    },
    on,
    ...readRows<Events>(() => kept),
    calls: () => calls.map(({ method, args }) => ({ method, args: [...args] })),
    drops: () => [...drops],
    errors: () => [...errors],
    clear: () => {
      for (const list of [calls, drops, errors, held, kept]) list.length = 0;
      waiting.clear();
      hint = createHint(emit);
      tally = createTally(emit);
      user = said = undefined;
      told &&= consent();
    },
  };
};

/** A ready-made instance, in place of the one of `analytics-outbox`. */
export const analytics: TestAnalytics = /* @__PURE__ */ createAnalytics();
