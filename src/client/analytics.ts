import { isConsent, nameOf, resolveOptions, type Settings } from './options.js';
import { consentTo, denyAll } from './consent.js';
import type { createDirectSend } from './delivery/send/direct.js';
import { callOnce } from '../util/call-once.js';
import { mayFail } from '../util/may-fail.js';
import { isPage, outsideZone, pageOrigin, timeBy } from './page.js';
import { createPipeline, type Pipeline } from './pipeline.js';
import { copy, type Call } from './record.js';
import type {
  Analytics,
  Consent,
  CreateAnalytics,
  DisabledOptions,
  Drop,
  DropReason,
  Emit,
  EventMap,
  Listeners,
  Options,
  Status,
} from './types.js';

/** At most this many calls are kept until `init`. */
const EARLY = 10_000;

type Listener = (payload: unknown) => void;

/** When a call was made by the clock of the device, and what the page was then, as tags. */
interface Past {
  at: number;
  seen?: object;
}

/**
 * Lets the developers' file see what happens: each event of `on`; each `init`, call and `on`, before it takes effect,
 * with the names of wrong options, or the listener, as `more`; and `wait`, when a call has to wait for `init`.
 */
export type Tell = (what: string, detail: unknown, more?: unknown) => void;

/**
 * Makes a tracker, which does nothing until `init`. `sayAs` is called before and after a waiting call is carried out,
 * with the moment of that call.
 * @param direct sends straight to the service; left out by entries that only reach relays
 */
export const createTracker = (direct: typeof createDirectSend | undefined, tell?: Tell) => {
  const pipelines = new Map<string, Pipeline>();
  const listeners = new Map<string, Set<Listener>>();
  const projects = new Set<string>();
  const early: [when: Past, work: (pipeline: Pipeline) => void][] = [];
  let settings: Settings | undefined;
  let current: Pipeline | undefined;
  /** A `setConsent` from before the project was known. */
  let said: [consent: Consent, at: number] | undefined;
  /** The consent to the project of the last `init`. */
  let consents: ReturnType<typeof consentTo> | undefined;
  /** While a waiting call is carried out: its moment. */
  let past: Past | undefined;

  const emit: Emit = (type, payload) => {
    tell?.(type, payload);
    const { record } = payload as Partial<Drop>;
    const option = { drop: settings?.onDrop, error: settings?.onError }[type as 'drop'];
    for (const listener of [option as Listener, ...(listeners.get(type) ?? [])]) {
      // One that throws, or rejects, must not stop delivery.
      if (listener)
        (async () =>
          callOnce(listener, { ...payload, ...(record && { record: { ...record } }) }))().catch(
          () => undefined,
        );
    }
  };

  const off = (): Status['paused'] =>
    isPage() ? (settings?.disabled ? 'disabled' : undefined) : 'no-page';

  const sayAs = (when?: Past) => (past = when);

  /** The consent while there is no pipeline. */
  const consent = (): Consent => said?.[0] ?? consents?.current(settings?.respectGpc) ?? 'granted';
  const lose = (reason: DropReason) => emit('drop', { reason, message: 'before init' });

  /** Runs work on the current pipeline, now or after `init`. Never throws into the page. */
  const run = (work: (pipeline: Pipeline) => void): void => {
    if (off()) return;
    const pipeline = current;
    if (pipeline) mayFail(() => outsideZone(() => work(pipeline)));
    else if (early.length < EARLY) {
      early.push([past ?? { at: Date.now() }, work]);
      tell?.('wait', undefined);
    } else lose('outbox-full');
  };

  const accept = (type: Call['type'], [subject, given, ...more]: unknown[]): void => {
    const at = past?.at ?? timeBy(settings?.now);
    // With a pipeline, a call becomes text before it returns. Without one it waits, so the page must not change it.
    const kept = current ? given : (mayFail(() => copy(given)) ?? given);
    run((pipeline) => {
      const call = { type, at, said: past?.at, subject, given: kept, more, seen: past?.seen };
      tell?.('call', call);
      pipeline.accept(call);
    });
  };

  const stop = () => {
    const all = [...pipelines.values()];
    // Before they stop: their drops may make a listener call something, which then waits for the next `init`.
    pipelines.clear();
    current = undefined;
    for (const pipeline of all) pipeline.stop();
  };

  const analytics = {
    init: (options: Options): void => {
      if (!isPage()) return;
      const next = (settings = resolveOptions(options, pageOrigin(), !!direct, tell));
      current = undefined; // the pipeline of a former destination goes on with its records
      if (next.project) {
        projects.add(next.project);
        consents = consentTo(next.project);
        consents.offer(next.consent);
        if (said) consents.set(...said);
        said = undefined;
      }
      if (next.disabled) return stop();
      const name = nameOf(next);
      outsideZone(() => {
        current = pipelines.get(name) ?? createPipeline(direct, next, name, emit);
        pipelines.set(name, current);
        current.configure(next);
      });
      let work;
      for ([past, work] of early.splice(0)) run(work);
      past = undefined;
    },
    identify: (...args: unknown[]): void => accept('identify', args),
    event: (...args: unknown[]): void => accept('event', args),
    flush: async () =>
      (await outsideZone(() => current?.flush())) ?? {
        delivered: 0,
        retried: 0,
        rejected: 0,
        waiting: early.length,
      },
    reset: (): void => run((pipeline) => pipeline.reset(past?.at)),
    setConsent: (word: Consent): void => {
      if (!isPage()) return;
      if (!isConsent(word)) return run(({ drop }) => drop('invalid-call', undefined, 'setConsent'));
      const at = past?.at ?? Date.now();
      // All waiting calls are older than the denial, or than the grant that ends it.
      if (word === 'denied' || consent() === 'denied')
        early.splice(0).forEach(() => lose('consent-denied'));
      outsideZone(() => projects.forEach((project) => consentTo(project).set(word, at)));
      if (projects.size) return;
      said = [word, at];
      // If no `init` of this task names a project, a denial counts for all that are stored.
      const apply = () => said?.[0] === 'denied' && outsideZone(() => denyAll(at));
      if (word === 'denied') queueMicrotask(apply);
    },
    status: (): Status => ({
      storage: 'none',
      consent: consent(),
      waiting: early.length,
      inFlight: 0,
      delivered: 0,
      unknown: 0,
      dropped: {},
      paused: off() ?? 'not-started',
      ...current?.status(),
    }),
    stop: (): void => {
      stop();
      listeners.clear();
      settings = undefined;
    },
    on: <Type extends keyof Listeners>(
      type: Type,
      listener: (payload: Listeners[Type]) => void,
    ): (() => void) => {
      tell?.('on', type, listener);
      const set = listeners.get(type) ?? new Set();
      listeners.set(type, set.add(listener as Listener));
      return () => set.delete(listener as Listener);
    },
  };
  return { analytics: analytics as unknown as Analytics, sayAs };
};

export type Tracker = ReturnType<typeof createTracker>;

/** Returns the `createAnalytics` that an entry of the package exports. */
export const creatorOf =
  <Init extends object>(
    direct: typeof createDirectSend | undefined,
    tell?: Tell,
  ): CreateAnalytics<Init> =>
  <Events extends EventMap<Events> = Record<string, object>, Traits extends object = object>(
    options?: Init | DisabledOptions,
  ): Analytics<Events, Traits, Init> => {
    const { analytics } = createTracker(direct, tell);
    if (options) analytics.init(options as Options);
    return analytics as unknown as Analytics<Events, Traits, Init>;
  };
