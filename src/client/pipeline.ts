import { messageOf } from '../util/errors.js';
import { consentTo } from './consent.js';
import { createPump } from './delivery/pump.js';
import type { createDirectSend } from './delivery/send/direct.js';
import { followPage, isFleeting, isGoing, isPrerendering } from './life.js';
import type { Settings } from './options.js';
import { openDatabase } from './outbox/database.js';
import { clear, createOutbox, keep, leave, useDatabase } from './outbox/outbox.js';
import { writeChanges } from './outbox/writer.js';
import { recordOf, refuse, type Call, type Refusal } from './record.js';
import { createSchedule } from './schedule.js';
import type {
  Consent,
  Drop,
  DropReason,
  Emit,
  FlushResult,
  Listeners,
  OutboxRecord,
  Status,
  StorageKind,
} from './types.js';
import { createUser } from './user.js';

/** Everything between a call and one destination. */
export const createPipeline = (
  direct: typeof createDirectSend | undefined,
  first: Settings,
  name: string,
  emit: Emit,
) => {
  let settings = first;
  const counts = { delivered: 0, unknown: 0, retry: 0, rejected: 0 };
  const dropped: Status['dropped'] = {};

  /** Counts what becomes of records, and tells the listeners. */
  const report: Emit = (type, payload) => {
    const { reason, outcome } = payload as Partial<Drop & Listeners['outcome']>;
    if (reason) dropped[reason] = (dropped[reason] ?? 0) + 1;
    if (outcome) counts[outcome === 'blocked' ? 'retry' : outcome]++;
    emit(type, payload);
  };
  const drop = (reason: DropReason, record?: OutboxRecord, message: string = reason) =>
    report('drop', { reason, message, record });
  const outbox = createOutbox({
    name,
    settings: () => settings,
    emit: report,
    onRestart: () => pump.restart(),
  });
  const pump = createPump(outbox, direct);
  const consents = consentTo(first.project);
  const user = createUser(name, () => consent === 'granted');

  /** Opens storage and starts delivery, if consent allows it. */
  const begin = () => {
    if (outbox.database || consent !== 'granted') return;
    if (consents.erasing() === 1) return;
    const use = () => {
      consents.remember(name);
      useDatabase(outbox, opened);
    };
    const onChange = (storage: StorageKind, message: string) => {
      if (opened !== outbox.database) return;
      if (storage === 'opening') use();
      else void writeChanges(outbox);
      pump.look();
      report('storage', { storage, message }); // last: a listener may deny consent
    };
    const opened = openDatabase(name, onChange, consents.erasing);
    use();
    pump.look();
  };

  /** Ends delivery, and closes storage. */
  const close = () => {
    pump.halt();
    const { database } = outbox;
    outbox.database = undefined; // before its end, which is no failure that a listener hears of
    void database?.end();
  };

  /** Leaves all records to the next page, and closes storage. */
  const leaveAll = () => {
    pump.halt(); // before they are left, the records under way are counted
    leave(outbox, true);
    close();
  };

  /** Deletes all records, and forgets the user. */
  const eraseAll = () => {
    close();
    clear(outbox, 'consent-denied');
    user.set('');
    pump.reconfigure(); // it forgets the wait after failures, which was stored, too
    consents.erase();
  };

  let consent: Consent | undefined;
  const applyConsent = () => {
    // Nothing of a prerendered page leaves its memory: it may never be shown.
    const next = isPrerendering() ? 'pending' : consents.current(settings.respectGpc);
    const isOther = next !== consent;
    consent = next;
    begin(); // also if consent is the same: storage may have waited for the end of erasing
    if (!isOther) return;
    if (next === 'granted') user.begin();
    else if (next === 'denied') eraseAll();
    // Records that only the memory has stay there.
    else if (outbox.noted || outbox.database?.medium() === 'indexeddb') leaveAll();
    else close();
    report('consent', { consent });
  };

  const onLeave = (isCall?: boolean) => {
    // Not in `pagehide`, while the page is still visible: Firefox would lose the requests. `hidden` comes next.
    if (!isFleeting()) return leave(outbox, false);
    pump.handOff(isCall);
    leave(outbox, isGoing());
    if (isGoing()) outbox.database?.leave();
  };

  const [schedule, unschedule] = createSchedule(outbox.settings, pump.flushAll, onLeave);

  const unfollow = followPage(
    onLeave,
    () => {
      applyConsent();
      pump.look();
    },
    pump.online,
    (key) => {
      applyConsent();
      if (key === `${name} gate`) pump.pump();
    },
  );
  const unfollowConsent = consents.follow(applyConsent);

  return {
    drop,
    accept: (call: Call): void => {
      const admit = () => {
        if (consent === 'denied' || (call.said && call.said < consents.lastAt()))
          refuse('consent-denied');
      };
      try {
        admit();
        const record = recordOf(call, settings, user.current(call.said), user.made);
        admit(); // `context` or `beforeSend` may have denied it
        if (call.type === 'identify') user.set(record.user ?? '', call.said);
        keep(outbox, record);
      } catch (error) {
        return drop(
          (error as Refusal | null)?.reason ?? 'not-serializable',
          undefined,
          messageOf(error),
        );
      }
      pump.prepare();
      schedule();
    },
    reset: (said?: number): void => {
      user.set('', said);
      report('reset', {});
    },
    /** Starts, or goes on with other options. */
    configure: (next: Settings): void => {
      // Without `context`, which JSON may not be able to write.
      const textOf = (all: Settings) => JSON.stringify({ ...all, context: 0 });
      const isOther = textOf(next) !== textOf(settings);
      settings = next;
      applyConsent();
      if (isOther && outbox.database) pump.reconfigure();
    },
    flush: async (): Promise<FlushResult> => {
      const before = { ...counts };
      await pump.flush();
      return {
        delivered: counts.delivered - before.delivered,
        retried: counts.retry - before.retry,
        rejected: counts.rejected - before.rejected,
        waiting: outbox.count,
      };
    },
    /** Takes everything down, and leaves the stored records to the next page. */
    stop: (): void => {
      unfollow();
      unfollowConsent();
      unschedule();
      leaveAll();
      clear(outbox, 'outbox-full');
    },
    status: (): Status => ({
      storage: outbox.database?.medium() ?? 'none',
      consent: consents.current(settings.respectGpc),
      ...pump.standing(),
      delivered: counts.delivered,
      unknown: counts.unknown,
      dropped: { ...dropped },
      userId: user.current(),
    }),
  };
};

export type Pipeline = ReturnType<typeof createPipeline>;
