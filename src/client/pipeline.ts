import { say, type Said } from './browser/page-consent.js';
import { isGoing, isHidden } from './browser/page-life.js';
import { addressOf, destinationName } from './config/destination.js';
import type { Settings } from './config/options.js';
import { createAccept } from './accept.js';
import { createConsent } from './consent.js';
import type { Context } from './context.js';
import type { CreateSender } from './delivery/sender.js';
import { createIdentity } from './identity.js';
import { followLife } from './life.js';
import { createParts } from './parts.js';
import { createPermission } from './permission.js';
import { createSchedule } from './schedule.js';
import { createTally, statusOf, type Emit } from './status.js';
import type { FlushResult, Status } from './types.js';

/** Functions and objects count as the same, since a page may write them anew for each `init`. */
const isSame = (a: Settings, b: Settings): boolean =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => {
    const [one, other] = [a[key as keyof Settings], b[key as keyof Settings]];
    return one === other || (Object(one) === one && Object(other) === other);
  });

/** Everything between a call and one destination. */
export const createPipeline = (
  createSender: CreateSender,
  first: Settings,
  emit: Emit,
  /** The last `setConsent` before the destination was known. */
  said: Said | undefined,
) => {
  let current = first;
  const settings = () => current;
  const name = destinationName(addressOf(first), first.project);
  const tally = createTally(emit);
  const gateKey = `${name} gate`;
  const context: Context = { name, gateKey, settings, createSender, emit, tally };

  const parts = createParts(context);
  const { journal, outbox, flusher } = parts;
  const consent = createConsent(context, {
    said,
    onChange: (next) => {
      permission.follow(next);
      emit('consent', () => ({ consent: next }));
    },
  });
  const identity = createIdentity(name, () => consent.current() === 'granted');
  const permission = createPermission(context, { consent, identity, parts });
  const leave = () => {
    // Not in `pagehide`, when the page is still visible: Firefox would lose the requests. `hidden` comes next.
    if (isHidden()) flusher.handOff();
    outbox.leave(isHidden() && isGoing());
  };
  const schedule = createSchedule({
    settings,
    // Waits for the database: it may hold a denial that localStorage had no room for.
    flush: () => void Promise.resolve(journal.opened()).then(flusher.flushAll),
    leave,
  });
  const unfollow = followLife(context, { parts, start: permission.start, consent, leave });
  permission.start();

  return {
    accept: createAccept({
      settings,
      consent,
      identity,
      drop: tally.drop,
      emit,
      keep: (record) => {
        outbox.add(record);
        if (schedule.add()) flusher.prepare();
      },
    }),
    reset: (): void => {
      identity.set(null);
      emit('reset', () => ({}));
    },
    setConsent: consent.set,
    configure: (next: Settings): void => {
      const isOther = !isSame(current, next);
      if (next.consent && next.consent !== current.consent) consent.set(say(next.consent));
      current = next;
      if (!isOther) return;
      consent.lookAgain();
      flusher.reconfigure(); // a request that was refused may pass now
    },
    /** Takes everything down, and leaves the stored records to the next page. */
    stop: (): void => {
      unfollow();
      consent.stop();
      schedule.stop();
      permission.stop();
    },
    flush: async (): Promise<FlushResult> => {
      await journal.opened();
      return flusher.flush();
    },
    status: (): Status => statusOf({ parts, consent, tally, identity }),
  };
};

export type Pipeline = ReturnType<typeof createPipeline>;
