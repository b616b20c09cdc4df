import { outsideZone } from './browser/outside-zone.js';
import { pageAddress } from './browser/page-address.js';
import { say, type Said } from './browser/page-consent.js';
import { isPage } from './browser/page-life.js';
import { readClock } from './config/clock.js';
import { isConsent, resolveOptions, type Settings } from './config/options.js';
import { addressOf, destinationName } from './config/destination.js';
import type { Form } from './config/forms.js';
import type { CreateSender } from './delivery/sender.js';
import { createAwaitInit } from './await-init.js';
import { sayOff } from './console.js';
import { createHearers } from './hearers.js';
import { createPipeline, type Pipeline } from './pipeline.js';
import { captureEvent, captureIdentify, type Call, type Made } from './record/call.js';
import type { Analytics, DisabledOptions, EventMap, Options, Status } from './types.js';

/** Calls kept before `init`. */
const EARLY = 10_000;

const IDLE: Status = {
  storage: 'none',
  consent: 'granted',
  waiting: 0,
  elsewhere: undefined,
  inFlight: 0,
  delivered: 0,
  unknown: 0,
  dropped: {},
  paused: 'not-started',
  nextAttempt: undefined,
  userId: undefined,
};

/** Whether they ask for the same. Callbacks and `context` do: a page may write them anew each time. */
const isSame = (a: Settings, b: Settings): boolean =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => {
    const [one, other] = [a[key as keyof Settings], b[key as keyof Settings]];
    return one === other || (Object(one) === one && Object(other) === other);
  });

/** A way to destinations: which options name one, and what sends to it. Entries choose theirs. */
export interface Way {
  form: Form;
  createSender: CreateSender;
}

/** What the script tag hands over: calls made before it came, with their times. */
export interface Replay {
  identify: (at: number, userId: unknown, properties?: unknown, ...more: unknown[]) => void;
  event: (at: number, name: unknown, fields?: unknown, ...more: unknown[]) => void;
}

export interface Tracker<
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
  Init extends object = Options,
> {
  analytics: Analytics<Events, Traits, Init>;
  replay: Replay;
}

/** A tracker, with the way in for calls that were made earlier. */
export const createTracker = <
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
  Init extends object = Options,
>({
  form,
  createSender,
}: Way): Tracker<Events, Traits, Init> => {
  const pipelines = new Map<string, Pipeline>();
  const early: ((pipeline: Pipeline) => void)[] = [];
  /** What `setConsent` was given last: for all destinations, and for those to come. */
  let said: Said | undefined;
  let settings: Settings | undefined;
  let current: Pipeline | undefined;

  const hearers = createHearers(() => settings);
  const { emit, on } = hearers;
  const awaitInit = createAwaitInit();

  /** Why nothing happens, if so. */
  const offReason = () => (isPage() ? settings?.disabled && 'disabled' : 'no-page') || undefined;
  const now = () => readClock(settings?.now);

  /** Runs it on the pipeline, now or after `init`; never throws into the page. */
  const withPipeline = (run: (pipeline: Pipeline) => void) => {
    try {
      if (offReason()) return;
      const pipeline = current;
      if (pipeline) outsideZone(() => run(pipeline));
      else if (early.length < EARLY) {
        early.push(run);
        awaitInit.begin();
      } else {
        emit('drop', () => ({
          reason: 'outbox-full',
          message: `more than ${EARLY} calls before init`,
        }));
      }
    } catch (error) {
      if (settings?.debug) console.log('analytics-outbox: failed', error);
    }
  };

  /** Slips in calls, told once each: the same call is made again and again. */
  const hinted = new Set<string>();
  const hint = (message: string) => {
    if (!hinted.has(message)) emit('error', () => ({ kind: 'call', message }));
    hinted.add(message);
  };

  const accept = (call: Made<Call>, more: unknown[]) =>
    withPipeline((pipeline) => {
      if (more[0] !== undefined) hint('a call takes two arguments: those after them were not sent');
      pipeline.accept(call, hint);
    });

  /** The call becomes text before it returns. */
  const isText = () => !!current && !settings?.beforeSend;

  const replay: Replay = {
    identify: (at, userId, properties, ...more) =>
      accept(captureIdentify(at, userId, properties, isText()), more),
    event: (at, name, fields, ...more) => accept(captureEvent(at, name, fields, isText()), more),
  };

  const init = (options: Init | DisabledOptions): void => {
    const before = settings;
    const given = options as unknown as Options;
    if (isPage()) settings = resolveOptions(given, pageAddress(), form);
    const off = offReason();
    if (off && (given as Options | undefined)?.debug) sayOff(off);
    if (off || !settings) return;
    awaitInit.end();
    const next = settings;
    const name = destinationName(addressOf(next), next.project);
    const known = pipelines.get(name);
    if (!known) {
      current = outsideZone(() => createPipeline(createSender, next, emit, said));
      pipelines.set(name, current); // the one before goes on with what it has
      const { consent } = current.status();
      emit('consent', () => ({ consent }));
    } else {
      current = known;
      outsideZone(() => known.configure(next, !before || !isSame(before, next)));
    }
    for (const run of early.splice(0)) withPipeline(run);
  };

  const analytics: Analytics<Events, Traits, Init> = {
    init,
    // All that is given, which is more than the types allow where a page is not typed.
    identify: (...args) => replay.identify(now(), ...args),
    event: (...args) => replay.event(now(), ...args),
    flush: async () =>
      (await outsideZone(() => current?.flush())) ?? {
        delivered: 0,
        retried: 0,
        rejected: 0,
        waiting: early.length,
      },
    reset: () => withPipeline((pipeline) => pipeline.reset()),
    setConsent: (given) => {
      if (!isConsent(given)) {
        const message = 'expected consent to be granted, pending or denied';
        return emit('drop', () => ({ reason: 'invalid-call', message }));
      }
      if (!isPage()) return;
      const now = (said = say(given));
      for (const pipeline of pipelines.values()) withPipeline(() => pipeline.setConsent(now));
    },
    status: () =>
      current?.status() ?? {
        ...IDLE,
        dropped: {},
        waiting: early.length,
        paused: offReason() ?? IDLE.paused,
      },
    stop: () => {
      for (const pipeline of pipelines.values()) outsideZone(pipeline.stop);
      pipelines.clear();
      current = settings = undefined;
      hearers.clear();
      awaitInit.end();
    },
    on,
  };
  return { analytics, replay };
};
