import { messageOf } from '../interface/errors.js';
import { consentTo } from './consent.js';
import { createPump } from './delivery/pump.js';
import type { createDirectSend } from './delivery/send/direct.js';
import { followPage, isGoing, isHidden, isPrerendering } from './life.js';
import { nameOf, type Destination, type Emit } from './destination.js';
import type { Settings } from './options.js';
import { openDatabase, type Database } from './outbox/database.js';
import { createOutbox } from './outbox/outbox.js';
import { deleteDatabase, shelf } from './page.js';
import { recordOf, refuse, type Call, type Refusal } from './record.js';
import { createSchedule } from './schedule.js';
import type { Drop, FlushResult, Listeners, Status } from './types.js';
import { createUser } from './user.js';

/** The page looks this soon for what a page before it was still writing as it started. */
const SOON_MS = 5_000;
/** It looks at least this often while it lives, and renews its lease. */
const LOOK_MS = 30_000;

/** Everything between a call and one destination. */
export const createPipeline = (
  direct: typeof createDirectSend | undefined,
  first: Settings,
  emit: Emit,
) => {
  let settings = first;
  const counts = { delivered: 0, unknown: 0, retry: 0, blocked: 0, rejected: 0 };
  const dropped: Status['dropped'] = {};

  /** Counts what becomes of records, and tells the listeners. */
  const tell: Emit = (type, payload) => {
    const { reason, outcome, record } = payload as Partial<Drop & Listeners['outcome']>;
    if (reason) dropped[reason] = (dropped[reason] ?? 0) + 1;
    if (outcome) counts[outcome]++;
    emit(type, { ...payload, ...(record && { record: { ...record } }) });
  };
  const name = nameOf(first);
  const now = () => settings.now?.() ?? Date.now();
  const drop: Destination['drop'] = (reason, record, message = reason) =>
    tell('drop', { reason, message, ...(record && { record }) });
  const destination = { name, settings: () => settings, now, emit: tell, drop };
  const outbox = createOutbox(destination, () => pump.forget());
  const { held } = outbox;
  const pump = createPump(destination, outbox, direct);
  const page = consentTo(first.project);
  const user = createUser(name, () => consent === 'granted');

  /** Opens storage and starts delivery, if consent and the page's activation allow it. */
  const begin = () => {
    if (held.database || consent !== 'granted' || isPrerendering()) return;
    user.begin();
    page.remember();
    const opened = openDatabase(name, (storage, message) => {
      if (opened !== held.database) return;
      tell('storage', { storage, message });
      outbox.look();
      if (storage !== 'memory') outbox.begin(opened);
      pump.pump();
    });
    outbox.begin(opened);
    pump.pump();
  };

  /** Ends sending, and the use of storage. */
  const halt = (): Database | undefined => {
    const { database } = held;
    pump.halt();
    held.database = undefined;
    return database;
  };

  /** What is stored is left to the next page; what is in memory alone waits there, or is noted if the page has no more use for it. */
  const end = (isLast?: boolean) => {
    pump.halt();
    if (isLast || held.noted || held.database?.kind() === 'indexeddb') outbox.leave(true);
    halt()?.end();
  };

  /** Deletes all that is kept, and forgets the user. */
  const forget = () => {
    const database = halt();
    outbox.clear('consent-denied');
    user.forget();
    page.forget();
    pump.reconfigure(); // the wait was stored, too
    for (const key of shelf.keys()) if (key.startsWith(`${name} `)) shelf.remove(key);
    // Where it is open it is cleared: to be deleted, it would have to be closed by all pages, cached ones too.
    const cleared = database?.run((store) => void store.clear()) ?? Promise.reject(new Error());
    cleared.catch(() => deleteDatabase(name)).finally(() => database?.end());
  };

  let consent = page.current(settings.respectGpc);
  const applyConsent = () => {
    const next = page.current(settings.respectGpc);
    if (next === consent) return;
    consent = next;
    if (next === 'granted') begin();
    else if (next === 'pending') end();
    else forget();
    tell('consent', { consent });
  };

  const leave = () => {
    // Not in `pagehide`, while the page is still visible: Firefox would lose the requests. `hidden` comes next.
    if (!isHidden()) return outbox.leave(false);
    pump.handOff();
    outbox.leave(isGoing());
    if (isGoing()) held.database?.leave();
  };

  const schedule = createSchedule(destination.settings, pump.flushAll, leave);

  let looking: ReturnType<typeof setTimeout>;
  /** Looks for what dead pages have left, now and as the next lease of another page ends. */
  const look = (nextMs = LOOK_MS) => {
    clearTimeout(looking);
    const soonest = outbox.look();
    pump.pump();
    looking = setTimeout(look, Math.min(nextMs, Math.max(soonest - now(), SOON_MS)));
  };

  const start = () => {
    if (consent === 'denied') forget();
    begin();
  };

  const unfollow = followPage({
    onShown: start,
    onLeave: leave,
    onReturn: () => {
      applyConsent();
      look();
    },
    onOnline: pump.online,
    onStored: (key) => {
      applyConsent();
      if (key === `${name} gate`) pump.pump();
    },
  });
  const unfollowConsent = page.follow(applyConsent);
  look(SOON_MS);
  start();

  return {
    drop,
    accept: (call: Call): void => {
      const admit = () => {
        if (consent === 'denied') refuse('consent-denied');
      };
      try {
        admit();
        const record = recordOf(call, settings, user.current());
        admit(); // `context` or `beforeSend` may have denied it
        if (call.type === 'identify') user.set(String(call.subject));
        tell('record', record);
        admit(); // a listener may
        outbox.add(record);
        schedule.add();
      } catch (error) {
        drop((error as Refusal | null)?.reason ?? 'not-serializable', undefined, messageOf(error));
      }
    },
    reset: (): void => {
      user.set(null);
      tell('reset', {});
    },
    configure: (next: Settings): void => {
      const isOther = JSON.stringify(next) !== JSON.stringify(settings);
      settings = next;
      if (!isOther) return;
      applyConsent();
      pump.reconfigure();
    },
    flush: async (): Promise<FlushResult> => {
      const before = { ...counts };
      await held.database?.ready;
      await pump.flush();
      const failures = ({ retry, blocked }: typeof counts) => retry + blocked;
      return {
        delivered: counts.delivered - before.delivered,
        retried: failures(counts) - failures(before),
        rejected: counts.rejected - before.rejected,
        waiting: held.count,
      };
    },
    /** Takes everything down, and leaves the stored records to the next page. */
    stop: (): void => {
      unfollow();
      unfollowConsent();
      clearTimeout(looking);
      schedule.stop();
      end(true);
      outbox.clear('outbox-full');
    },
    status: (): Status => {
      const [paused, until] = pump.pause();
      return {
        storage: held.database?.kind() ?? 'none',
        consent,
        waiting: held.count - pump.inFlight(),
        elsewhere: outbox.elsewhere(),
        inFlight: pump.inFlight(),
        delivered: counts.delivered,
        unknown: counts.unknown,
        dropped: { ...dropped },
        paused,
        nextAttempt: until || undefined,
        userId: user.current(),
      };
    },
  };
};

export type Pipeline = ReturnType<typeof createPipeline>;
