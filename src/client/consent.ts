import { isGpcOn } from './browser/is-gpc-on.js';
import { joinConsent, say, type Said } from './browser/page-consent.js';
import { shelf } from './browser/shelf.js';
import { isConsentKey } from './config/destination.js';
import type { Context } from './context.js';
import { getDenial } from './outbox/denial.js';
import type { Admit } from './outbox/database.js';
import type { Consent } from './types.js';

interface Effects {
  /** What `setConsent` said before there was a destination. */
  said: Said | undefined;
  onChange: (consent: Consent) => void;
}

/** Consent to one destination's records: what is said on this page, and a denial that an earlier page has remembered. */
export const createConsent = ({ name, settings }: Context, { said, onChange }: Effects) => {
  const { project, consent: option } = settings();
  const key = `${name} consent`;
  /** A denial counts for the whole project, so it may have been remembered by another destination. */
  const isDenial = (other: string): boolean =>
    isConsentKey(other, project) && !!shelf.get(other)?.startsWith('denied');
  const denials = () => shelf.keys().filter(isDenial);

  /** Global Privacy Control denies while it is on, whatever was said. */
  const inForce = (): Consent => (settings().respectGpc && isGpcOn() ? 'denied' : page.current());
  const apply = () => {
    const before = current;
    current = inForce();
    // Even where nothing has changed: the site's data may have been cleared since it was remembered.
    remember();
    if (current !== before) onChange(current);
  };
  const remembered = () => (denials().length > 0 ? 'denied' : 'granted');
  const page = joinConsent(project, said, option, remembered, apply);
  let current = inForce();

  /** Denied on this page or an earlier one, and not by Global Privacy Control alone. */
  const isOwn = (): boolean => page.current() === 'denied';
  const remember = (): void => {
    if (page.current() === 'granted') for (const denial of denials()) shelf.set(denial, undefined);
    // `yet`: what is stored is still to be deleted. If this page cannot do it, the next one does.
    if (isOwn() && !isDenial(key)) shelf.set(key, 'denied yet');
  };
  /** It was denied on another page. */
  const deny = (): void => page.set(say('denied'));
  /** A denial in the database, which localStorage may have had no room for, counts until something is said. */
  const admit: Admit = (store, then) => {
    if (page.isGiven()) then();
    else getDenial(store, (isDenied) => (isDenied ? deny() : then()));
  };

  return {
    current: (): Consent => current,
    set: page.set,
    stop: page.unfollow,
    /** Something was said about it on this page, so a remembered denial no longer counts. */
    isGiven: page.isGiven,
    admit,
    isOwn,
    remember,
    /** What was stored before the denial has been deleted. */
    setCleared: (): void => {
      if (isOwn()) shelf.set(key, 'denied');
    },
    isCleared: (): boolean => shelf.get(key) === 'denied',
    /** Nobody tells a frozen or cached page of a denial, or of a change of Global Privacy Control. */
    lookAgain: (): void => {
      if (page.current() === 'granted' && denials().length > 0) deny();
      else if (inForce() !== current) apply();
    },
    /** Another page has changed this key of localStorage. */
    hear: (changed: string | null): void => {
      if (changed && isDenial(changed)) deny();
    },
  };
};

export type DestinationConsent = ReturnType<typeof createConsent>;
