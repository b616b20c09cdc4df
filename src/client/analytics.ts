import { outsideZone } from './browser/outside-zone.js';
import { say } from './browser/page-consent.js';
import { isPage } from './browser/page-life.js';
import { readClock } from './config/clock.js';
import { isConsent } from './config/options.js';
import { createHearers, TYPES } from './hearers.js';
import { createHint } from './hint.js';
import { captureEvent, captureIdentify, type Call, type Made } from './record/call.js';
import { createSetUp, type Way } from './set-up.js';
import type { Analytics, CreateAnalytics, DisabledOptions, EventMap, Options } from './types.js';

export type { Way } from './set-up.js';

/** Takes calls that were made before the script tag's file had loaded, with their times. */
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

/** Makes a tracker, which does nothing until `init`. */
export const createTracker = <
  Events extends EventMap<Events> = Record<string, object>,
  Traits extends object = object,
  Init extends object = Options,
>(
  way: Way,
): Tracker<Events, Traits, Init> => {
  const hearers = createHearers(() => setUp.settings());
  const { emit } = hearers;
  const setUp = createSetUp(way, emit);
  const { run, current, settings, status, offReason } = setUp;
  const now = () => readClock(settings()?.now);

  const hint = createHint(emit);

  const accept = (call: Made<Call>, more: unknown[]) =>
    run((pipeline) => pipeline.accept(call, more, hint));

  /** Whether a call becomes JSON text before it returns, so that nobody can change its arguments meanwhile. */
  const isText = () => !!current() && !settings()?.beforeSend;

  const replay: Replay = {
    identify: (at, userId, properties, ...more) =>
      accept(captureIdentify(at, userId, properties, isText()), more),
    event: (at, name, fields, ...more) => accept(captureEvent(at, name, fields, isText()), more),
  };

  const analytics: Analytics<Events, Traits, Init> = {
    init: setUp.init,
    // All arguments are passed on: a page without types may give more than the types allow.
    identify: (...args) => replay.identify(now(), ...args),
    event: (...args) => replay.event(now(), ...args),
    flush: async () =>
      (await outsideZone(() => current()?.flush())) ?? {
        delivered: 0,
        retried: 0,
        rejected: 0,
        waiting: status().waiting,
      },
    reset: () => run((pipeline) => pipeline.reset()),
    setConsent: (given) => {
      if (!isPage()) return;
      const message = 'expected consent to be granted, pending or denied';
      if (isConsent(given)) setUp.setConsent(say(given));
      else if (!offReason()) emit('drop', () => ({ reason: 'invalid-call', message }));
    },
    status,
    stop: () => {
      setUp.stop();
      hearers.clear();
    },
    on: (type, listener) => {
      const types = Object.keys(TYPES).join(', ');
      if (!(type in TYPES) && !offReason()) hint(`\`on\` expected ${types}, not "${type}"`);
      return hearers.on(type, listener);
    },
  };
  return { analytics, replay };
};

/** Returns the `createAnalytics` that an entry of the package exports, for the given way to reach destinations. */
export const creatorOf =
  <Init extends object>(way: Way): CreateAnalytics<Init> =>
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options?: Init | DisabledOptions,
  ): Analytics<Events, Traits, Init> => {
    const { analytics } = createTracker<Events, Traits, Init>(way);
    if (options) analytics.init(options as Init);
    return analytics;
  };
