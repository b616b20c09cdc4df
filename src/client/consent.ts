import { later } from './later.js';
import { openDatabase } from './outbox/database.js';
import { databaseNames, isGpcOn, shelf } from './page.js';
import type { Consent } from './types.js';

/** What the scripts of a page know of the consent to one project's records. */
interface Fact {
  consent: Consent;
  /** `setConsent` has set it, so that the options of a later `init` say nothing any more. */
  isSaid: boolean;
  /** What is stored is being erased. */
  isErasing?: boolean;
  followers: Set<() => void>;
}

/** Two scripts, such as the tag and an import, have no module in common: both see a symbol on the global object. */
export const FACTS = Symbol.for('analytics-outbox consent');
/** As long as each other, so that a denial fits into a full localStorage in the place of a consent. */
const GRANTED = 'granted';
const REFUSED = 'refused';
/** Erasing that has failed is tried again after this time. */
const AGAIN_MS = 10_000;
/** What names of databases and of their keys begin with: the address of the destination, and the project. */
const DESTINATION = /^analytics-outbox \S+:\S+ (\S+)/;

/** The consent to the records of one project: one fact for all scripts and instances of the page, and for later pages. */
export const consentTo = (project: string) => {
  const facts = ((globalThis as Record<symbol, unknown>)[FACTS] ??= new Map()) as Map<string, Fact>;
  const own = encodeURI(project);
  const key = `analytics-outbox ${own} consent`;
  const known = facts.get(project);
  const fact = known ?? { consent: 'granted', isSaid: false, followers: new Set() };
  facts.set(project, fact);

  const has = (word: string) => shelf.get(key) === word;
  const isOwn = (name: string) => DESTINATION.exec(name)?.[1] === own;
  const tell = () => [...fact.followers].forEach((follow) => follow());

  /**
   * Erases what any page has stored for the project, apart from a denial: keys at once, then the databases. Until all are
   * empty, no follower begins.
   */
  const erase = (): void => {
    const keys = shelf.keys().filter(isOwn);
    keys.forEach(shelf.remove);
    if (has(GRANTED)) shelf.remove(key);
    if (fact.isErasing) return;
    fact.isErasing = true;
    const run = async (): Promise<void> => {
      try {
        for (const one of (await databaseNames().catch(() => keys)).filter(isOwn)) {
          const [name] = DESTINATION.exec(one)!;
          const database = openDatabase(name, () => undefined);
          // Unless another page has done so meanwhile, and has begun anew.
          const empty = (store: IDBObjectStore) => has(GRANTED) || store.clear();
          try {
            await database.run(empty);
          } finally {
            void database.end();
          }
        }
        fact.isErasing = false;
        tell();
      } catch {
        later(run, AGAIN_MS);
      }
    };
    void run();
  };

  const set = (consent: Consent, isSaid = true): void => {
    fact.consent = consent;
    fact.isSaid ||= isSaid;
    if (consent === 'granted' && has(REFUSED)) {
      shelf.remove(key);
      erase(); // what the page of the denial, or an earlier build, may have left undone
    }
    tell();
    // Read again: a follower may have set another consent.
    if (fact.consent === 'denied') {
      erase(); // there may be no follower
      shelf.set(key, REFUSED); // what was removed has made room for it
    }
  };

  // The build before this one kept a denial under the name of the destination.
  for (const old of known ? [] : shelf.keys().filter(isOwn)) {
    if (/ consentdenied/.test(old + shelf.get(old))) set('denied', false);
  }

  return {
    set,
    erase,
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
      if (has(REFUSED)) fact.consent = 'denied';
      return respectGpc && isGpcOn() ? 'denied' : fact.consent;
    },
    /** Until what is stored is erased, nothing may be stored or sent. Then followers are called. */
    isErasing: (): boolean | undefined => fact.isErasing,
    /** Stores that consent is granted, once storage is used: a denial will fit into its place. */
    remember: (): unknown => shelf.set(key, GRANTED),
    /** Calls `follow` at each change until the function that is returned is called. */
    follow: (follow: () => void): (() => void) => {
      fact.followers.add(follow);
      return () => fact.followers.delete(follow);
    },
  };
};

/** Denies consent to all projects of which this site has stored any, since the page has named none. */
export const denyAll = (): void => {
  for (const key of shelf.keys('analytics-outbox ')) {
    const project = / (\S+) consent$/.exec(key)?.[1];
    if (project) consentTo(decodeURI(project)).set('denied');
  }
};
