import { beacon } from './browser/beacon.js';
import { isOwnOrigin } from './browser/page-address.js';
import { isGoing, isHidden, isOnline, watchDeparture } from './browser/page-life.js';
import { shelf } from './browser/shelf.js';
import { readClock } from './config/clock.js';
import type { Context } from './context.js';
import { createFlusher } from './delivery/flusher.js';
import { createGate } from './delivery/gate.js';
import { createNotes } from './outbox/exit-note.js';
import { createJournal } from './outbox/journal.js';
import { createOutbox } from './outbox/outbox.js';
import { newId } from './record/new-id.js';
import type { StorageKind } from './types.js';

/** Makes everything that stores and sends. All of it works only while the journal is open. */
export const createParts = (context: Context) => {
  const { name, gateKey, settings, createSender, emit, tally } = context;
  /** What outbox and delivery need from the browser. */
  const browser = {
    now: () => readClock(settings().now),
    random: Math.random,
    beacon,
    isGoing,
    isHidden,
    isOnline,
    watchDeparture,
  };
  const onChange = (storage: StorageKind, message: string) => {
    emit('storage', () => ({ storage, message }));
    if (storage === 'indexeddb') outbox.rewrite();
    flusher.pump();
  };
  const journal = createJournal({ name, onChange });
  const notes = createNotes(shelf, name);
  const outbox = createOutbox({
    ...browser,
    journal,
    notes,
    newId,
    limits: settings,
    onDrop: (record, reason, message) => tally.drop(reason, message, record),
    onUnknown: (record) => tally.outcome(record, 'unknown'),
  });
  const flusher = createFlusher({
    ...browser,
    outbox,
    sender: createSender({ ...browser, settings }),
    gate: createGate({
      ...browser,
      load: () => shelf.get(gateKey),
      save: (value) => shelf.replace(gateKey, value),
    }),
    knowsRepeats: () => settings().resends,
    concurrency: () => settings().concurrency,
    mayRun: () => journal.kind() !== 'none',
    isOwnOrigin: isOwnOrigin(settings().relay ?? settings().baseUrl ?? ''),
    onSent: (record, handoff) => emit('sent', () => ({ record: { ...record }, handoff })),
    onOutcome: tally.outcome,
    onError: (error) => emit('error', () => error),
  });
  return { journal, notes, outbox, flusher };
};

export type Parts = ReturnType<typeof createParts>;
