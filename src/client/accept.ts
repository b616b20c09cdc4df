import type { Settings } from './config/options.js';
import type { DestinationConsent } from './consent.js';
import type { Identity } from './identity.js';
import type { Call, Made } from './record/call.js';
import { draftOf } from './record/draft.js';
import type { Hint } from './record/gather-tags.js';
import { makeRecord } from './record/make-record.js';
import { newId } from './record/new-id.js';
import type { Emit, Tally } from './status.js';
import type { OutboxRecord } from './types.js';

interface Effects {
  settings: () => Settings;
  consent: Pick<DestinationConsent, 'current'>;
  identity: Pick<Identity, 'current' | 'set'>;
  keep: (record: OutboxRecord) => void;
  drop: Tally['drop'];
  emit: Emit;
}

/** What becomes of a call: it is made a record and kept, or dropped with a reason. */
export const createAccept = (effects: Effects) => {
  const { settings, consent, identity, keep, drop, emit } = effects;
  /** `more` are the arguments of the call after the first two. */
  return (captured: Made<Call>, more: readonly unknown[], hint: Hint): void => {
    if (more[0] !== undefined) hint('a call takes two arguments: those after them were not sent');
    if (!('value' in captured)) return drop(captured.reason, captured.message);
    const call = captured.value;
    if (consent.current() === 'denied') return drop('consent-denied', 'consent is denied');
    const draft = draftOf(call, settings(), identity.current(), hint);
    if (!('value' in draft)) return drop(draft.reason, draft.message);
    if (call.type === 'identify') identity.set(call.userId as string);
    const made = makeRecord(draft.value, call.at, newId(), settings(), hint);
    if (!('value' in made)) return drop(made.reason, made.message);
    const record = made.value;
    emit('record', () => ({ ...record }));
    keep(record);
  };
};
