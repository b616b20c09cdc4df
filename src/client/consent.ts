import { isGpcOn, shelf } from './page.js';
import type { Consent } from './types.js';

/** What the scripts of a page know of the consent to one project's records. */
interface Fact {
  consent: Consent;
  /** `setConsent` has set it, so that the options of a later `init` say nothing any more. */
  isSaid: boolean;
  followers: Set<() => void>;
}

/** Two scripts, such as the tag and an import, have no module in common: both see a symbol on the global object. */
export const FACTS = Symbol.for('analytics-outbox consent');
/** As long as each other, so that a denial fits into a full localStorage in the place of a consent. */
const GRANTED = 'granted';
const REFUSED = 'refused';

/** The consent to the records of one project: one fact for all scripts and instances of the page, and for later pages. */
export const consentTo = (project: string) => {
  const facts = ((globalThis as Record<symbol, unknown>)[FACTS] ??= new Map()) as Map<string, Fact>;
  const key = `analytics-outbox ${encodeURI(project)} consent`;
  const known = facts.get(project);
  const fact = known ?? { consent: 'granted', isSaid: false, followers: new Set() };
  facts.set(project, fact);

  const set = (consent: Consent, isSaid = true): void => {
    fact.consent = consent;
    fact.isSaid ||= isSaid;
    // Read again each time: a follower may set another consent when it hears of this one.
    const store = () => fact.consent === 'denied' && shelf.set(key, REFUSED);
    store();
    if (consent === 'granted') shelf.remove(key);
    for (const follow of [...fact.followers]) follow();
    store(); // what a denial removes has made room for it
  };

  return {
    set,
    /** The option of an `init`: the first one of the page counts, and later a stricter one until `setConsent`. */
    offer: (option: Consent | undefined): void => {
      const isStricter = option !== 'granted' && fact.consent !== 'denied' && !fact.isSaid;
      if (option && (isStricter || !known)) set(option, false);
    },
    /**
     * What is in force. A denial that any page has stored counts until consent is given again, on this page too if the
     * site clears its storage. While Global Privacy Control is on and counts, consent is denied, whatever was said.
     */
    current: (respectGpc: boolean | undefined): Consent => {
      if (shelf.get(key) === REFUSED) fact.consent = 'denied';
      return respectGpc && isGpcOn() ? 'denied' : fact.consent;
    },
    /** Stores that consent is granted, once storage may be used: a denial will fit into its place. */
    remember: (): unknown => shelf.set(key, GRANTED),
    /** Nothing may be stored any more, apart from a denial. */
    forget: (): unknown => shelf.get(key) === GRANTED && shelf.remove(key),
    /** Calls `follow` at each change until the function that is returned is called. */
    follow: (follow: () => void): (() => void) => {
      fact.followers.add(follow);
      return () => fact.followers.delete(follow);
    },
  };
};
