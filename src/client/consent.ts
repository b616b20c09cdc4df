import { isGpcOn } from './browser/is-gpc-on.js';
import { joinConsent, say, type Said } from './browser/page-consent.js';
import { shelf } from './browser/shelf.js';
import { isConsentKey } from './config/destination.js';
import type { Context } from './context.js';
import { getDenial } from './outbox/denial.js';
import type { Admit } from './outbox/database.js';
import type { Consent } from './types.js';

interface Effects {
  /** The last `setConsent` before the destination was known. */
  said: Said | undefined;
  onChange: (consent: Consent) => void;
}

/** Consent to one destination's records: what was said on this page, or a denial that an earlier page has stored. */
export const createConsent = ({ name, settings }: Context, { said, onChange }: Effects) => {
  const { project, consent: option } = settings();
  const key = `${name} consent`;
  /** A denial counts for the whole project, so it may have been remembered by another destination. */
  const isDenial = (other: string): boolean =>
    isConsentKey(other, project) && !!shelf.get(other)?.startsWith('denied');
  const denials = () => shelf.keys().filter(isDenial);

  /** While Global Privacy Control is on, consent is denied, whatever was said. */
  const inForce = (): Consent => (settings().respectGpc && isGpcOn() ? 'denied' : page.current());
  const apply = () => {
    const before = current;
    current = inForce();
    // Stored again even if nothing has changed: the site may have cleared localStorage since.
    remember();
    if (current !== before) onChange(current);
  };
  const remembered = () => (denials().length > 0 ? 'denied' : 'granted');
  const page = joinConsent(project, said, option, remembered, apply);
  let current = inForce();

  /** Whether a visitor has denied it, on this page or an earlier one. Global Privacy Control alone does not count. */
  const isOwn = (): boolean => page.current() === 'denied';
  const remember = (): void => {
    if (page.current() === 'granted') for (const denial of denials()) shelf.set(denial, undefined);
    // `yet`: the stored records are still to be deleted. If this page cannot do that, the next one does.
    if (isOwn() && !isDenial(key)) shelf.set(key, 'denied yet');
  };
  /** Takes over a denial from another page. */
  const deny = (): void => page.set(say('denied'));
  /**
   * A denial that localStorage had no room for is in the database. It counts until something is said on this page.
   */
  const admit: Admit = (store, then) => {
    if (page.isGiven()) then();
    else getDenial(store, (isDenied) => (isDenied ? deny() : then()));
  };

  return {
    current: (): Consent => current,
    set: page.set,
    stop: page.unfollow,
    /** Whether something was said on this page, so that a remembered denial no longer counts. */
    isGiven: page.isGiven,
    admit,
    isOwn,
    remember,
    /** Remembers that all records from before the denial are deleted. */
    setCleared: (): void => {
      if (isOwn()) shelf.set(key, 'denied');
    },
    isCleared: (): boolean => shelf.get(key) === 'denied',
    /** Looks for changes that a frozen or cached page was not told of: a denial, or Global Privacy Control. */
    lookAgain: (): void => {
      if (page.current() === 'granted' && denials().length > 0) deny();
      else if (inForce() !== current) apply();
    },
    /** Called when another page has changed this key of localStorage. */
    hear: (changed: string | null): void => {
      if (changed && isDenial(changed)) deny();
    },
  };
};

export type DestinationConsent = ReturnType<typeof createConsent>;
