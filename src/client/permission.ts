import { removeStored } from './browser/remove-stored.js';
import { shelf } from './browser/shelf.js';
import { isPrerendering } from './browser/page-life.js';
import type { DestinationConsent } from './consent.js';
import type { Context } from './context.js';
import type { Identity } from './identity.js';
import type { Keeper } from './keeper.js';
import { forgetDenial } from './outbox/denial.js';
import type { Consent } from './types.js';

interface Effects {
  consent: DestinationConsent;
  identity: Identity;
  keeper: Keeper;
}

/** Begins and ends storage and delivery, as consent and the page's activation allow. */
export const createPermission = ({ name, gateKey }: Context, effects: Effects) => {
  const { consent, identity, keeper } = effects;

  const begin = () => {
    if (keeper.parts() || isPrerendering() || consent.current() !== 'granted') return;
    identity.begin();
    const { journal } = keeper.begin();
    if (consent.isSaid()) void forgetDenial(journal);
  };

  const putOff = () => {
    identity.putOff();
    keeper.putOff();
  };

  const forget = () => {
    identity.forget();
    keeper.drop();
    shelf.set(gateKey, undefined);
    if (!consent.isOwn()) return removeStored(name);
    void keeper.clear(consent.setCleared);
    consent.remember(); // localStorage may have room now
  };

  return {
    /** The consent in force has changed. */
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
  };
};
