import { say, type Said } from './browser/page-consent.js';
import { isGoing, whenActivated } from './browser/page-life.js';
import { removeStored } from './browser/remove-stored.js';
import { shelf } from './browser/shelf.js';
import { readClock } from './config/clock.js';
import { addressOf, destinationName } from './config/destination.js';
import type { Settings } from './config/options.js';
import { createConsent } from './consent.js';
import type { CreateSender } from './delivery/sender.js';
import { createIdentity } from './identity.js';
import { createKeeper } from './keeper.js';
import { followLife } from './life.js';
import { forgetDenial, getDenial } from './outbox/denial.js';
import type { Admit } from './outbox/journal.js';
import { createParts, type FullSettings } from './parts.js';
import type { Call, Made } from './record/call.js';
import { draftOf } from './record/draft.js';
import type { Hint } from './record/gather-tags.js';
import { makeRecord } from './record/make-record.js';
import { newId } from './record/new-id.js';
import { createSchedule } from './schedule.js';
import { createTally, statusOf, type Emit } from './status.js';
import type { FlushResult, Status } from './types.js';

/** Without a prototype, as they come: some scripts give every object more keys. */
const complete = (settings: Settings): FullSettings =>
  Object.assign(Object.create(null) as object, settings, {
    resends: !!(settings.relay ?? settings.idempotencyKey),
  });

/** Everything between a call and one destination. */
export const createPipeline = (
  createSender: CreateSender,
  first: Settings,
  emit: Emit,
  /** What `setConsent` said before there was a destination. */
  said: Said | undefined,
) => {
  let settings = complete(first);
  const name = destinationName(addressOf(first), first.project);
  const gateKey = `${name} gate`;
  const tally = createTally(emit);
  const { drop } = tally;
  let isActivated = false;
  let isStopped = false;

  const consent = createConsent({
    name,
    project: first.project,
    said,
    option: first.consent,
    respectsGpc: () => settings.respectGpc,
    beforePending: () => identity.current(),
    onChange: (next) => {
      if (next === 'denied') forget();
      else if (next === 'pending') keeper.putOff();
      else begin();
      emit('consent', () => ({ consent: next }));
    },
  });
  const identity = createIdentity(name, () => consent.current() === 'granted');
  const keeper = createKeeper({
    settings: () => settings,
    build: (admit) =>
      createParts({
        name,
        gateKey,
        settings: () => settings,
        createSender,
        now: () => readClock(settings.now),
        emit,
        tally,
        admit,
      }),
    drop,
    onKept: ({ flusher }) => {
      if (schedule.add()) flusher.prepare();
    },
  });
  const { parts } = keeper;
  const leave = () => {
    parts()?.flusher.handOff();
    parts()?.outbox.leave(isGoing());
  };
  const schedule = createSchedule({
    settings: () => settings,
    flush: () => {
      const flush = () => parts()?.flusher.flushAll();
      // A denial may stand in the database alone.
      void parts()?.journal.opened.then(flush);
    },
    leave,
  });

  /** A denial in the database, which localStorage may have had no room for, counts until something is said. */
  const admit: Admit = (store, then) => {
    if (consent.isSaid()) then();
    else getDenial(store, (isDenied) => (isDenied ? consent.deny() : then()));
  };

  const begin = () => {
    if (parts() || !isActivated || consent.current() !== 'granted') return;
    identity.begin();
    keeper.begin(admit);
    if (consent.isSaid()) void forgetDenial(parts()!.journal);
  };

  const forget = () => {
    identity.forget();
    keeper.drop();
    shelf.set(gateKey, undefined);
    if (!consent.isOwn()) return removeStored(name);
    keeper.clear(consent.setCleared);
    consent.remember(); // there may be room now
  };

  const unfollow = followLife({ parts, consent, gateKey, leave });
  whenActivated(() => {
    if (isStopped) return;
    isActivated = true;
    // What was remembered as denied was cleared then; opening storage anew would only make some.
    if (consent.current() === 'denied' && !consent.isCleared()) forget();
    consent.remember();
    begin();
  });

  return {
    /** Makes a record of a call and keeps it. */
    accept: (captured: Made<Call>, hint: Hint): void => {
      if (!('value' in captured)) return drop(captured.reason, captured.message);
      const call = captured.value;
      if (consent.current() === 'denied') return drop('consent-denied', 'consent is denied');
      const draft = draftOf(call, settings, identity.current(), hint);
      if (!('value' in draft)) return drop(draft.reason, draft.message);
      if (call.type === 'identify') identity.set(call.userId as string);
      const made = makeRecord(draft.value, call.at, newId(), settings, hint);
      if (!('value' in made)) return drop(made.reason, made.message);
      const record = made.value;
      emit('record', () => ({ ...record }));
      keeper.keep(record);
    },
    reset: (): void => {
      identity.set(null);
      emit('reset', () => ({}));
    },
    setConsent: consent.set,
    /** With `isOther`, the set-up has changed: what was refused may pass now. */
    configure: (next: Settings, isOther: boolean): void => {
      if (next.consent && next.consent !== settings.consent) consent.set(say(next.consent));
      settings = complete(next);
      consent.lookAgain();
      if (isOther) parts()?.flusher.reconfigure();
    },
    /** Takes everything down, and leaves what is stored to the next page. */
    stop: (): void => {
      isStopped = true;
      unfollow();
      consent.leave();
      schedule.stop();
      keeper.stop();
    },
    flush: async (): Promise<FlushResult> => {
      await parts()?.journal.opened;
      return (
        parts()?.flusher.flush() ?? {
          delivered: 0,
          retried: 0,
          rejected: 0,
          waiting: keeper.held(),
        }
      );
    },
    status: (): Status => statusOf({ keeper, consent, tally, identity }),
  };
};

export type Pipeline = ReturnType<typeof createPipeline>;
