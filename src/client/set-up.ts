import { isLocalHost } from './browser/is-local-host.js';
import { outsideZone } from './browser/outside-zone.js';
import { pageAddress } from './browser/page-address.js';
import type { Said } from './browser/page-consent.js';
import { isPage } from './browser/page-life.js';
import { addressOf, destinationName } from './config/destination.js';
import type { Form } from './config/forms.js';
import { resolveOptions, type Settings } from './config/options.js';
import { log, warn } from './console.js';
import type { CreateSender } from './delivery/sender.js';
import { createPipeline, type Pipeline } from './pipeline.js';
import { idleStatus, type Emit } from './status.js';
import type { Options, Status } from './types.js';

/** At most this many calls are kept until `init`. */
const EARLY = 10_000;
/** A developer is told when calls have waited this long for `init`. */
const LATE_MS = 10_000;

/** How an entry reaches destinations: which options name one, and what sends to it. */
export interface Way {
  form: Form;
  createSender: CreateSender;
}

/** Keeps what `init` was given, and a pipeline for each destination that it has named. */
export const createSetUp = ({ form, createSender }: Way, emit: Emit) => {
  const pipelines = new Map<string, Pipeline>();
  const early: ((pipeline: Pipeline) => void)[] = [];
  /** The last `setConsent`. It counts for later destinations, too. */
  let said: Said | undefined;
  let settings: Settings | undefined;
  let current: Pipeline | undefined;
  let late: ReturnType<typeof setTimeout> | undefined;

  /** Tells a developer, once, if `init` does not come. */
  const awaitInit = (): void => {
    const what = '`init` has not been called, or the tag has no options';
    if (isLocalHost())
      late ??= setTimeout(warn, LATE_MS, `calls wait, and nothing is sent: ${what}`);
  };

  /** Why the tracker does nothing; undefined if it works. */
  const offReason = () => (isPage() ? settings?.disabled && 'disabled' : 'no-page') || undefined;

  /** Runs the work on the current pipeline, now or after `init`. Never throws into the page. */
  const run = (work: (pipeline: Pipeline) => void): void => {
    try {
      if (offReason()) return;
      const pipeline = current;
      if (pipeline) outsideZone(() => work(pipeline));
      else if (early.length < EARLY) {
        early.push(work);
        awaitInit();
      } else {
        emit('drop', () => ({
          reason: 'outbox-full',
          message: `more than ${EARLY} calls before init`,
        }));
      }
    } catch (error) {
      if (settings?.debug) log('failed', error);
    }
  };

  return {
    offReason,
    settings: (): Settings | undefined => settings,
    current: (): Pipeline | undefined => current,
    run,
    status: (): Status =>
      current?.status() ?? idleStatus(offReason() ?? 'not-started', early.length),
    init: (options: object): void => {
      const given = options as Options;
      if (isPage()) settings = resolveOptions(given, pageAddress(), form);
      const off = offReason();
      if (off && (given as Options | undefined)?.debug) log(`off: ${off}`);
      clearTimeout(late);
      current = undefined; // a former pipeline goes on with the records that it has
      if (off || !settings) return;
      const next = settings;
      const name = destinationName(addressOf(next), next.project);
      const known = pipelines.get(name);
      if (!known) {
        const made = outsideZone(() => createPipeline(createSender, next, emit, said));
        current = made;
        pipelines.set(name, made);
        emit('consent', () => ({ consent: made.status().consent }));
      } else {
        current = known;
        outsideZone(() => known.configure(next));
      }
      for (const work of early.splice(0)) run(work);
    },
    setConsent: (next: Said): void => {
      said = next;
      for (const pipeline of pipelines.values()) run(() => pipeline.setConsent(next));
    },
    stop: (): void => {
      for (const pipeline of pipelines.values()) outsideZone(pipeline.stop);
      pipelines.clear();
      current = settings = undefined;
      clearTimeout(late);
    },
  };
};
