import { joinConsent, say, type Said } from './browser/page-consent.js';
import { shelf } from './browser/shelf.js';
import { isConsentKey } from './config/destination.js';
import type { Consent } from './types.js';

interface Effects {
  /** Name of the destination. */
  name: string;
  project: string;
  /** What `setConsent` said before there was a destination. */
  said: Said | undefined;
  option: Consent | undefined;
  /** Storage may still be used, and soon not. */
  beforePending: () => void;
  onChange: (consent: Consent) => void;
}

/** Consent to one destination's records: what is said on the page, and what an earlier page was told. */
export const createConsent = (effects: Effects) => {
  const { name, project, said, option, beforePending, onChange } = effects;
  const key = `${name} consent`;
  /** A denial counts for the project, whatever the way to the service was then. */
  const isDenial = (other: string): boolean =>
    isConsentKey(other, project) && !!shelf.get(other)?.startsWith('denied');
  const denials = () => shelf.keys().filter(isDenial);

  const apply = (next: Consent) => {
    // Said once more, it is still remembered: the site's data may have been cleared since.
    if (next === current) return next === 'denied' ? remember() : undefined;
    if (next === 'pending') beforePending();
    current = next;
    remember();
    onChange(next);
  };
  const remembered = () => (denials().length > 0 ? 'denied' : 'granted');
  const page = joinConsent(project, said, option, remembered, apply);
  let current = page.current();

  const remember = (): void => {
    if (current === 'granted') for (const denial of denials()) shelf.set(denial, undefined);
    // Where storage fails, it is for the next page to clear.
    if (current === 'denied' && !isDenial(key)) shelf.set(key, 'denied yet');
  };
  /** It was denied elsewhere. */
  const deny = (): void => page.set(say('denied'));

  return {
    current: (): Consent => current,
    set: page.set,
    leave: page.leave,
    /** Somebody has said something about it on this page, so what was remembered counts no more. */
    isSaid: page.isGiven,
    deny,
    remember,
    /** What was stored before the denial is gone. */
    setCleared: (): void => {
      if (current === 'denied') shelf.set(key, 'denied');
    },
    isCleared: (): boolean => shelf.get(key) === 'denied',
    /** Nobody tells a frozen or cached page of a denial. */
    lookAgain: (): void => {
      if (current === 'granted' && denials().length > 0) deny();
    },
    /** Another page has changed this key of localStorage. */
    hear: (changed: string | null): void => {
      if (changed && isDenial(changed)) deny();
    },
  };
};

export type ConsentKeeper = ReturnType<typeof createConsent>;
