import { createTracker } from '../client/analytics.js';
import { FACTS } from '../client/consent.js';
import type { Answer, Sender } from '../client/delivery/send/sender.js';
import { checkEvent } from '../dev/events.js';
import { createSay } from '../dev/say.js';
import { resolveOptions } from '../client/options.js';
import { removeItem, keysOfItems } from '../client/page.js';
import type { Analytics, DisabledOptions, EventMap, Options } from '../client/types.js';
import { createJournal } from './journal.js';
import { readRows } from './rows.js';
import type { RecordedCall, TestAnalytics } from './types.js';

type Method = (...args: unknown[]) => unknown;

/** Stands for every address, since nothing goes there. */
const ADDRESS = 'https://test.example';
const BEFORE_INIT: Options = { relay: ADDRESS, project: 'test', channel: 'test' };
/** Nothing is sent by itself. */
const NEVER = { flushAt: 1e9, flushInterval: 1e9 };

const DELIVERED: Answer = { outcome: 'delivered', status: 200, retryAfterMs: 0, problem: '' };
const createTestSend = (): Sender => [async (records) => records.map(() => DELIVERED)];

/**
 * Makes an instance that records what would be sent, and sends nothing: the real tracker, over a page of its own
 * (`platform/`) and with a sender that delivers at once. It has the name of what it stands in for, so that this module
 * can replace `analytics-outbox` in a test.
 * @example
 * vi.mock('analytics-outbox', () => import('analytics-outbox/testing'));
 */
export const createAnalytics = <
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
>(
  options?: Options | DisabledOptions,
): TestAnalytics<Events, Traits> => {
  const journal = createJournal();
  const calls: RecordedCall[] = [];
  const say = createSay(() => undefined);
  const { analytics: tracker } = createTracker(createTestSend, (what, detail, more) => {
    if (what === 'on') checkEvent(detail as string, more, say);
    journal.tell(what, detail);
  });
  const methods = tracker as unknown as Record<RecordedCall['method'], Method>;
  /** The project as the tracker knows it, so that user, consent and counts are of this instance alone. */
  const name = `test ${Math.random()}`;
  /** The options in force; nothing before the first call, and after `stop`. */
  let setup: Options | DisabledOptions | undefined;

  const start = (next: Options | DisabledOptions): void => {
    const { resends, ...settings } = resolveOptions({ ...next } as Options, ADDRESS, true);
    const { project, beforeSend } = settings;
    setup = next; // before `init` tells of consent: what listens asks for the status then
    tracker.init({
      ...settings,
      ...{ baseUrl: ADDRESS, token: 'test', relay: undefined, idempotencyKey: resends },
      ...{ project: name, ...NEVER },
      beforeSend: (draft) => {
        draft.body.project = project;
        return beforeSend ? beforeSend(draft) : draft;
      },
    });
  };

  const note =
    (method: RecordedCall['method'], work = methods[method]): Method =>
    (...args) => {
      calls.push({ method, args });
      return work(...args);
    };
  /** Notes a call that becomes a record, before `init` too. */
  const noteRecord = (method: 'identify' | 'event'): Method =>
    note(method, (...args) => {
      if (!setup) start(BEFORE_INIT);
      methods[method](...args);
    });

  const analytics = {
    ...tracker,
    init: note('init', start as Method),
    identify: noteRecord('identify'),
    event: noteRecord('event'),
    flush: note('flush'),
    reset: note('reset'),
    setConsent: note('setConsent'),
    stop: note('stop', () => {
      tracker.stop();
      setup = undefined;
    }),
    status: () => {
      const isStarted = setup && setup !== BEFORE_INIT;
      return { ...tracker.status(), ...(!isStarted && { paused: 'not-started' }) };
    },
  };
  if (options) start(options);

  return {
    ...(analytics as unknown as Analytics<Events, Traits>),
    ...readRows<Events>(journal.rows),
    calls: () => calls.map(({ method, args }) => ({ method, args: [...args] })),
    drops: journal.drops,
    clear: () => {
      tracker.init({ disabled: true, project: name });
      for (const key of keysOfItems()) if (key.includes(`${encodeURI(name)} `)) removeItem(key);
      (globalThis as Record<symbol, Map<string, unknown>>)[FACTS]?.delete(name);
      if (setup) start(setup);
      journal.clear();
      calls.length = 0;
    },
  };
};

/** A ready-made instance, in place of the one of `analytics-outbox`. */
export const analytics: TestAnalytics = /* @__PURE__ */ createAnalytics();
