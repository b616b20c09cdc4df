import { attempt } from '../interface/attempt.js';
import { later } from './later.js';
import { openDatabase } from './outbox/database.js';
import { databaseNames, deleteDatabase, isGpcOn, shelf } from './page.js';
import type { Consent } from './types.js';

/** What the scripts of a page know of the consent to one project's records. */
interface Fact {
  consent: Consent;
  /** `setConsent` has set it, so that the options of a later `init` say nothing any more. */
  isSaid: boolean;
  /** Which attempt to erase what is stored is under way; 0 once all is erased since the denial. */
  tries?: number | undefined;
  /** Databases that may exist, and keys that begin with their names. */
  names: Set<string>;
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
/** What parts of the context have stored, perhaps on pages that had more of them. */
const CONTEXT = /^analytics-outbox \w+$/;

/** The consent to the records of one project: one fact for all scripts and instances of the page, and for later pages. */
export const consentTo = (project: string) => {
  const facts = ((globalThis as Record<symbol, unknown>)[FACTS] ??= new Map()) as Map<string, Fact>;
  const own = encodeURI(project);
  const key = `analytics-outbox ${own} consent`;
  const known = facts.get(project);
  const fact = known ?? {
    consent: 'granted',
    isSaid: false,
    names: new Set(),
    followers: new Set(),
  };
  facts.set(project, fact);

  const has = (word: string) => shelf.get(key) === word;
  const isOwn = (name: string) => DESTINATION.exec(name)?.[1] === own;
  const tell = () => [...fact.followers].forEach((follow) => follow());

  /**
   * Erases what any page has stored for the project, apart from a denial: keys at once, then the databases. Until all are
   * empty, no follower begins, or if that has failed, none uses a database.
   */
  const erase = (): void => {
    for (const one of shelf.keys()) {
      if (isOwn(one) ? fact.names.add(one) : CONTEXT.test(one)) shelf.remove(one);
    }
    if (has(GRANTED)) shelf.remove(key);
    if (fact.tries) return;
    fact.tries = 1;
    const run = async (): Promise<void> => {
      try {
        for (const one of (await databaseNames().catch(() => [...fact.names])).filter(isOwn)) {
          const [name] = DESTINATION.exec(one)!;
          const database = openDatabase(name, () => undefined);
          // If another page has erased all and was granted consent since, what is stored now is allowed.
          const empty = (store: IDBObjectStore) => has(GRANTED) || store.clear();
          try {
            await database.run(empty);
          } finally {
            void database.end();
          }
          // Only if this page has not used it: while the deletion waits for other pages, nobody can open it again.
          if (!fact.names.has(name) && !has(GRANTED)) deleteDatabase(name);
        }
        fact.tries = 0;
      } catch {
        fact.tries!++;
        later(run, AGAIN_MS);
      }
      tell();
    };
    void run();
  };

  const set = (consent: Consent, isSaid = true): void => {
    fact.consent = consent;
    fact.isSaid ||= isSaid;
    if (consent === 'denied') {
      erase(); // there may be no follower; and what is removed makes room where localStorage is full
      shelf.set(key, REFUSED);
    } else if (consent === 'granted' && has(REFUSED)) {
      shelf.remove(key);
      // What the page of the denial, or an earlier build, may have left undone.
      if (fact.tries !== 0) erase();
    }
    tell();
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
      else fact.tries ||= undefined; // other pages may store again
      return respectGpc && isGpcOn() ? 'denied' : fact.consent;
    },
    /**
     * Which attempt to erase what is stored is under way, if any. Followers are called after each. Nothing is stored
     * or sent before the first has ended, and no database is used before one has succeeded.
     */
    erasing: (): number | undefined => fact.tries,
    /**
     * Stores that consent is granted, once storage is used: a denial will fit into its place. And which database is
     * used, for a denial where the browser does not name its databases.
     */
    remember: (name: string): void => {
      fact.names.add(name);
      if (fact.tries) return;
      shelf.set(key, GRANTED);
      shelf.set(`${name} consent`, GRANTED);
    },
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
    // Another script may have made a key that does not decode.
    const project = attempt(() => decodeURI(/ (\S+) consent$/.exec(key)![1]!));
    if (project) consentTo(project).set('denied');
  }
};
