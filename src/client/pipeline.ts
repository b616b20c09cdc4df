import { beacon } from './browser/beacon.js';
import { inBackground } from './browser/in-background.js';
import { isOwnOrigin } from './browser/page-address.js';
import { joinConsent, say, type Said } from './browser/page-consent.js';
import {
  followPage,
  isGoing,
  isHidden,
  isOnline,
  watchDeparture,
  whenActivated,
} from './browser/page-life.js';
import { shelf } from './browser/shelf.js';
import { readClock } from './config/clock.js';
import { addressOf, destinationName, isConsentKey } from './config/destination.js';
import type { Settings } from './config/options.js';
import { createFlusher } from './delivery/flusher.js';
import { isUnderWay } from './delivery/lanes.js';
import { createGate } from './delivery/gate.js';
import type { CreateSender } from './delivery/sender.js';
import { deleteDenial, getDenial } from './outbox/denial.js';
import { createEntry, createParcel } from './outbox/parcel.js';
import { createNotes } from './outbox/exit-note.js';
import { createJournal, type Admit } from './outbox/journal.js';
import { createOutbox } from './outbox/outbox.js';
import { createLine } from './outbox/line.js';
import type { Call, Made } from './record/call.js';
import { draftOf } from './record/draft.js';
import type { Hint } from './record/gather-tags.js';
import { makeRecord } from './record/make-record.js';
import { newId } from './record/new-id.js';
import type {
  Consent,
  DropReason,
  FlushResult,
  Listeners,
  OutboxRecord,
  Status,
  StorageKind,
} from './types.js';

/** A look for records that other pages have left, this often. */
const LOOK_MS = 60_000;
/** And once so soon: the page before may still have been writing when this one opened. */
const SOON_MS = 5_000;

export type Emit = <Type extends keyof Listeners>(type: Type, payload: Listeners[Type]) => void;

const NOTHING_AWAY = { count: 0, bytes: 0 };

/** A relay knows repeats by itself, a service only with a key. */
const limitsOf = (settings: Settings) => ({
  ...settings,
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
  let settings = first;
  let limits = limitsOf(first);
  const name = destinationName(addressOf(first), first.project);
  const now = (): number => readClock(settings.now);
  const userKey = `${name} user`;
  const gateKey = `${name} gate`;
  const consentKey = `${name} consent`;
  /** A denial counts for the project, whatever the way to the service was then. */
  const isDenial = (key: string): boolean =>
    isConsentKey(key, first.project) && !!shelf.get(key)?.startsWith('denied');
  const counts = { delivered: 0, unknown: 0 };
  const dropped: Status['dropped'] = {};

  const drop = (reason: DropReason, message: string, record?: OutboxRecord) => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
    emit('drop', record ? { reason, message, record } : { reason, message });
  };

  // --- the parts, while storage and network may be used --------------------------------------------

  const build = (admit?: Admit) => {
    const onChange = (storage: StorageKind, message: string) => {
      emit('storage', { storage, message });
      if (storage === 'indexeddb') outbox.rewrite();
      flusher.pump();
    };
    const journal = createJournal({ name, onChange, admit });
    const outbox = createOutbox({
      journal,
      notes: createNotes(shelf, name),
      now,
      newId,
      isHidden,
      limits: () => limits,
      onDrop: (record, reason, message) => drop(reason, message, record),
      onUnknown: (record) => {
        counts.unknown++;
        emit('outcome', { record, outcome: 'unknown' });
      },
    });
    const flusher = createFlusher({
      outbox,
      sender: createSender({
        settings: () => settings,
        fetch: (...args) => fetch(...args),
        now,
        watchDeparture,
        isGoing,
        beacon,
      }),
      gate: createGate({
        load: () => shelf.get(gateKey),
        save: (value) => shelf.replace(gateKey, value),
        now,
        random: Math.random,
      }),
      concurrency: () => settings.concurrency,
      isOwnOrigin: () => isOwnOrigin(settings.relay ?? settings.baseUrl ?? ''),
      now,
      random: Math.random,
      isOnline,
      isHidden,
      onSent: (record, handoff) => emit('sent', { record: { ...record }, handoff }),
      onOutcome: (sent, outcome, status) => {
        const record = { ...sent };
        if (outcome === 'delivered') counts.delivered++;
        emit('outcome', status ? { record, outcome, status } : { record, outcome });
      },
      onError: (error) => emit('error', error),
    });
    return { journal, outbox, flusher };
  };

  let parts: ReturnType<typeof build> | undefined;
  const held = createLine();
  const heldParcel = createParcel([0, '', 0]);
  held.insert(heldParcel);
  let isActivated = false;
  /** What was stored before consent was denied is gone. */
  let isWiped = true;
  const hasDenial = () => shelf.keys().some(isDenial);
  const page = joinConsent(
    first.project,
    said,
    first.consent,
    () => (hasDenial() ? 'denied' : 'granted'),
    (next) => apply(next),
  );
  let consent = page.current();
  /** The user as this page knows it: null after a reset. */
  let user: string | null | undefined;

  const setUser = (value: string | null) => {
    user = value;
    // A former user's id must not stay. Empty, it tells other tabs of a reset.
    if (consent === 'granted') shelf.replace(userKey, value ?? '');
  };
  /** What another tab has set counts. Where nothing stands there, the site has cleared it: nobody has left. */
  const currentUser = (): string | undefined => {
    const stored = consent === 'granted' ? shelf.get(userKey) : undefined;
    if (stored !== undefined) user = stored || null;
    return user ?? undefined;
  };

  const hold = (record: OutboxRecord) => {
    held.add(createEntry(record, heldParcel));
    let surplus;
    while (held.isFull(settings, NOTHING_AWAY) && (surplus = held.surplus())) {
      held.take(surplus);
      drop('outbox-full', 'more than maxRecords or maxBytes', surplus.record);
    }
  };
  const takeHeld = (): OutboxRecord[] =>
    [...held.entries()].map((entry) => {
      held.take(entry);
      return entry.record;
    });

  // --- when to send --------------------------------------------------------------------------------

  let fresh = 0;
  let isLeaving = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flushSoon = () => {
    clearTimeout(timer);
    timer = undefined;
    fresh = 0;
    inBackground(() => {
      const flush = () => parts?.flusher.flushAll();
      // A denial may stand in the database alone.
      void parts?.journal.opened.then(flush);
    });
  };

  const leave = () => {
    isLeaving = false;
    parts?.flusher.handOff();
    parts?.outbox.leave(isGoing());
  };

  const keep = (record: OutboxRecord) => {
    parts!.outbox.add(record);
    if (isHidden()) {
      // There may be no later moment.
      if (!isLeaving) queueMicrotask(leave);
      isLeaving = true;
      flushSoon(); // should it live on
    } else if (++fresh >= settings.flushAt) flushSoon();
    else if (!timer) {
      timer = setTimeout(flushSoon, settings.flushInterval);
      parts!.flusher.prepare();
    }
  };

  const begin = () => {
    if (parts || !isActivated || consent !== 'granted') return;
    parts = build((store, then) => {
      if (page.isGiven()) {
        deleteDenial(store);
        then();
      } else getDenial(store, (isDenied) => (isDenied ? deny() : then()));
    });
    if (!isWiped) parts.outbox.wipe(false, () => (isWiped = true));
    if (user !== undefined) setUser(user);
    currentUser();
    for (const record of takeHeld()) keep(record);
    parts.flusher.pump();
  };

  const end = () => {
    const ended = parts;
    parts = undefined;
    ended?.flusher.stop();
    return ended;
  };

  const forget = () => {
    const ended = end();
    ended?.journal.close();
    user = null;
    for (const key of [userKey, gateKey]) shelf.set(key, undefined);
    for (const record of [...(ended?.outbox.clear() ?? []), ...takeHeld()]) {
      drop('consent-denied', 'consent was denied', record);
    }
    isWiped = false;
    const { journal, outbox, flusher } = build();
    flusher.stop();
    outbox.wipe(true, () => {
      isWiped = true;
      if (consent === 'denied') shelf.set(consentKey, 'denied');
      journal.close();
    });
    remember(); // there may be room now
  };

  const putOff = () => {
    const { outbox, journal } = end() ?? {};
    if (!outbox || journal?.kind() === 'indexeddb') return outbox?.leave(true);
    // What waits for the database to open would be stored, and be held here too.
    journal?.close();
    for (const entry of [...outbox.entries()]) {
      if (isUnderWay(entry)) outbox.abandon(entry);
      if (entry.state !== 'done') hold(entry.record);
    }
  };

  const remember = () => {
    if (consent === 'denied') {
      // Where storage fails, it is for the next page to clear.
      if (!isDenial(consentKey)) shelf.set(consentKey, 'denied yet');
    } else if (consent === 'granted')
      for (const key of shelf.keys().filter(isDenial)) shelf.set(key, undefined);
  };

  const apply = (next: Consent) => {
    if (next === consent) {
      if (next === 'denied') remember(); // the site's data may have been cleared since
      return;
    }
    if (next === 'pending') currentUser();
    consent = next;
    remember();
    if (next === 'denied') forget();
    else if (next === 'pending') putOff();
    else begin();
  };

  /** It was denied elsewhere. */
  const deny = () => page.set(say('denied'));

  followPage({
    onHidden: leave,
    onGoing: () => parts?.outbox.leave(false),
    onReturn: () => {
      // Nobody tells a frozen or cached page.
      if (consent === 'granted' && hasDenial()) deny();
      parts?.outbox.comeBack();
      parts?.flusher.pump();
    },
    onOnline: () => parts?.flusher.resume(),
    onStored: (key) => {
      if (key && isDenial(key)) deny();
      if (key === gateKey) parts?.flusher.pump();
    },
  });
  const lookAround = () => {
    parts?.outbox.look();
    parts?.flusher.pump();
  };
  setTimeout(lookAround, SOON_MS);
  setInterval(lookAround, LOOK_MS);
  whenActivated(() => {
    isActivated = true;
    // What was remembered as denied was cleared then; opening storage anew would only make some.
    if (consent === 'denied' && shelf.get(consentKey) !== 'denied') forget();
    remember();
    begin();
  });

  return {
    name,
    /** Makes a record of a call and keeps it. */
    accept: (captured: Made<Call>, hint: Hint): void => {
      if (!('value' in captured)) return drop(captured.reason, captured.message);
      const call = captured.value;
      if (consent === 'denied') return drop('consent-denied', 'consent is denied');
      const draft = draftOf(call, settings, currentUser(), hint);
      if (!('value' in draft)) return drop(draft.reason, draft.message);
      if (call.type === 'identify') setUser(call.userId as string);
      const made = makeRecord(draft.value, call.at, newId(), settings, hint);
      if (!('value' in made)) return drop(made.reason, made.message);
      const record = made.value;
      emit('record', { ...record });
      if (parts) return keep(record);
      hold(record);
    },
    reset: () => setUser(null),
    setConsent: page.set,
    configure: (next: Settings): void => {
      if (next.consent && next.consent !== settings.consent) page.set(say(next.consent));
      settings = next;
      limits = limitsOf(next);
      parts?.flusher.reconfigure();
    },
    flush: async (): Promise<FlushResult> => {
      await parts?.journal.opened;
      return parts
        ? parts.flusher.flush()
        : { delivered: 0, retried: 0, rejected: 0, waiting: held.count() };
    },
    status: (): Status => {
      const [paused, until] = parts?.flusher.pause() ?? ['consent' as const, 0];
      const inFlight = parts?.flusher.inFlight() ?? 0;
      const { entries } = parts?.outbox ?? held;
      const waiting = [...entries()].filter((entry) => !isUnderWay(entry));
      return {
        storage: parts?.journal.kind() ?? 'none',
        consent,
        waiting: waiting.length + (parts?.outbox.away() ?? 0),
        inFlight,
        ...counts,
        dropped: { ...dropped },
        paused,
        nextAttempt: until || undefined,
        userId: currentUser(),
      };
    },
  };
};

export type Pipeline = ReturnType<typeof createPipeline>;
