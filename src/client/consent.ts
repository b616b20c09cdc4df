import { mayFail } from '../util/may-fail.js';
import { later } from './later.js';
import { whenShown } from './life.js';
import { openDatabase } from './outbox/database.js';
import {
  databaseNames,
  deleteDatabase,
  isGpcOn,
  getItem,
  setItem,
  setWord,
  removeItem,
  keysOfItems,
  timeOf,
} from './page.js';
import type { Consent } from './types.js';

/** The consent to the records of one project, as all scripts of a page share it. */
interface Fact {
  consent: Consent;
  /** `setConsent` has set the consent. From then on, the option `consent` of an `init` is ignored. */
  isSaid?: boolean;
  /** An instance of the project respects Global Privacy Control: then it counts for all of them. */
  respectsGpc?: boolean | undefined;
  /** The number of the attempt to erase what is stored; 0 when one has succeeded, missing before the first one. */
  tries?: number | undefined;
  /** Names of databases that may exist. Keys of localStorage begin with them, too. */
  names: Set<string>;
  followers: Set<() => void>;
}

/** Two scripts, such as the tag and an import, have no module in common: both see a symbol on the global object. */
export const FACTS = Symbol.for('analytics-outbox consent');
/** Two words of the same length: where localStorage is full, a denial fits into the place of a consent. */
const GRANTED = 'granted';
const REFUSED = 'refused';
/** After a failure, erasing is tried again after this time. */
const AGAIN_MS = 10_000;
/** Names of databases and keys begin with this: the address of the destination, and the project. */
const DESTINATION = /^analytics-outbox \S+:\S+ (\S+)/;
/** Keys that parts of the context have stored, on this page or on others of the site. */
const CONTEXT = /^analytics-outbox \w+$/;

/** The consent to the records of one project: one fact for all scripts and instances of the page, and for later pages. */
export const consentTo = (project: string) => {
  const facts = ((globalThis as Record<symbol, unknown>)[FACTS] ??= new Map()) as Map<string, Fact>;
  const own = encodeURI(project);
  const key = `analytics-outbox ${own} consent`;
  const known = facts.get(project);
  // Another build on this page may have made a fact that lacks some members.
  const fact = Object.assign(known ?? {}, {
    consent: 'granted',
    names: new Set(),
    followers: new Set(),
    ...known,
  }) as Fact;
  facts.set(project, fact);

  const has = (word: string) => getItem(key) === word;
  const isOwn = (name: string) => DESTINATION.exec(name)?.[1] === own;
  const tell = () => fact.followers.forEach((follow) => follow());

  /**
   * Erases what any page has stored for the project, apart from a denial: keys at once, then the databases. Followers
   * wait for the first attempt. If it fails, they work from memory until another one has succeeded.
   */
  const erase = (): void => {
    for (const one of keysOfItems()) {
      if (isOwn(one) ? fact.names.add(one) : CONTEXT.test(one)) removeItem(one);
    }
    if (has(GRANTED)) removeItem(key);
    if (fact.tries) return;
    fact.tries = 1;
    const run = async (): Promise<void> => {
      try {
        for (const one of (await databaseNames().catch(() => [...fact.names])).filter(isOwn)) {
          const [name] = DESTINATION.exec(one)!;
          const database = openDatabase(name, () => undefined);
          // Another page may have erased all, and got consent since: then what is stored now is allowed.
          const empty = (store: IDBObjectStore) => has(GRANTED) || store.clear();
          try {
            await database.run(empty);
          } finally {
            void database.end();
          }
          // Not a database that this page uses: a deletion waits for other pages, and nobody can open it meanwhile.
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

  const set = (consent: Consent, at: number, isSaid = true): void => {
    // Said before the last denial, or before the word that has taken it back.
    if (at < timeOf(key)) return;
    fact.consent = consent;
    fact.isSaid ||= isSaid;
    whenShown(() => {
      if (fact.consent !== consent || at < timeOf(key)) return;
      if (consent === 'denied') {
        erase(); // before the denial is stored, for which it makes room; and there may be no follower that would erase
        setWord(key, REFUSED, at);
      } else if (consent === 'granted' && has(REFUSED)) {
        setWord(key, '', at);
        // The page of the denial, or an earlier build, may not have erased all.
        if (fact.tries !== 0) erase();
      }
      tell();
    });
  };

  return {
    set,
    erase,
    /** When consent was last denied, or given again after that: what was called before is dropped. */
    lastAt: (): number => timeOf(key),
    /** Takes the option of an `init`: the first one of the page, and later only a stricter one, until `setConsent`. */
    offer: (option: Consent | undefined): void => {
      const isStricter = option !== 'granted' && fact.consent !== 'denied' && !fact.isSaid;
      if (option && (isStricter || !known)) set(option, Date.now(), false);
    },
    /**
     * The consent that is in force. A stored denial counts until consent is given again. This page remembers it even if
     * the site clears its storage. While Global Privacy Control is on and is respected, consent is denied in any case.
     */
    current: (respectGpc: boolean | undefined): Consent => {
      if (has(REFUSED)) fact.consent = 'denied';
      else fact.tries ||= undefined; // other pages may store again
      fact.respectsGpc ||= respectGpc;
      return fact.respectsGpc && isGpcOn() ? 'denied' : fact.consent;
    },
    /**
     * The number of the attempt to erase what is stored, if one is under way. Followers are called after each. Nothing
     * is stored or sent before the first one has ended, and no database is used before one has succeeded.
     */
    erasing: (): number | undefined => fact.tries,
    /**
     * Called when storage is used. Stores that consent is granted, so that a denial fits into its place, and the name of
     * the database, so that a denial finds it where the browser does not list databases.
     */
    remember: (name: string): void => {
      fact.names.add(name);
      if (fact.tries || has(REFUSED)) return;
      setItem(key, GRANTED);
      setItem(`${name} consent`, GRANTED);
    },
    /** Calls `follow` at each change until the function that is returned is called. */
    follow: (follow: () => void): (() => void) => {
      fact.followers.add(follow);
      return () => fact.followers.delete(follow);
    },
  };
};

/** Denies consent to all projects of which this site has stored any, since the page has named none. */
export const denyAll = (at: number): void => {
  for (const key of keysOfItems('analytics-outbox ')) {
    // Another script may have made a key that does not decode.
    const project = mayFail(() => decodeURI(/ (\S+) consent$/.exec(key)![1]!));
    if (project) consentTo(project).set('denied', at);
  }
};
