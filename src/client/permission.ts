import { isPrerendering } from './browser/page-life.js';
import { removeStored } from './browser/remove-stored.js';
import { shelf } from './browser/shelf.js';
import type { DestinationConsent } from './consent.js';
import type { Context } from './context.js';
import type { Identity } from './identity.js';
import { forgetDenial, wipe } from './outbox/denial.js';
import { createJournal } from './outbox/journal.js';
import type { Parts } from './parts.js';
import type { Consent } from './types.js';

interface Effects {
  consent: DestinationConsent;
  identity: Identity;
  parts: Parts;
}

/** Opens storage and starts delivery when consent and the page's activation allow it, and ends both. */
export const createPermission = ({ name, gateKey, tally }: Context, effects: Effects) => {
  const { consent, identity, parts } = effects;
  const { journal, notes, outbox, flusher } = parts;
  /** False from a denial until all records from before it are deleted. */
  let isWiped = true;

  const begin = () => {
    const mayBegin = consent.current() === 'granted' && !isPrerendering();
    if (!mayBegin || journal.kind() !== 'none') return;
    identity.begin();
    journal.open(consent.admit);
    if (!isWiped) void wipe(parts, false).then((isDone) => (isWiped ||= isDone));
    outbox.rewrite();
    flusher.pump();
    if (consent.isGiven()) void forgetDenial(journal);
  };

  /** Ends storing and sending. Stored records are left to the next page. */
  const stop = () => {
    outbox.leave(true);
    journal.closeAfterWrites();
    flusher.halt();
  };

  /** Consent is pending: stored records stay in the database, and those in memory alone wait there. */
  const putOff = () => {
    identity.putOff();
    if (journal.kind() === 'indexeddb') return stop();
    journal.close();
    flusher.halt();
  };

  /** Deletes all stored records, and stores the denial instead. */
  const clear = async () => {
    isWiped = false;
    const own = createJournal({ name, onChange: () => undefined });
    own.open();
    if (await wipe({ journal: own, notes }, true)) {
      isWiped = true;
      consent.setCleared();
    }
    own.close();
  };

  const forget = () => {
    identity.forget();
    journal.close();
    const records = outbox.clear();
    flusher.halt();
    for (const record of records) tally.drop('consent-denied', 'consent was denied', record);
    shelf.set(gateKey, undefined);
    if (!consent.isOwn()) return removeStored(name);
    void clear();
    consent.remember(); // localStorage may have room now
  };

  return {
    /** Called when the consent in force has changed. */
    follow: (next: Consent): void => {
      if (next === 'denied') forget();
      else if (next === 'pending') putOff();
      else begin();
    },
    /** Begins if consent allows it. A page that was loaded in advance begins once it is shown. */
    start: (): void => {
      if (isPrerendering()) return;
      // After an earlier page has cleared the storage, clearing it again would only create a database.
      if (consent.current() === 'denied' && !consent.isCleared()) forget();
      consent.remember();
      begin();
    },
    stop,
  };
};
