import type { Consent } from '../types.js';

/** What was said about consent, and when. */
export interface Said {
  consent: Consent;
  /** The order: -1 for consent remembered or assumed, 0 for the option of `init`, then 1, 2, … for `setConsent`. */
  turn: number;
}

type Follower = (consent: Consent) => void;

interface Shared extends Said {
  followers: Follower[];
}

interface Registry {
  turn: number;
  projects: Map<string, Shared>;
}

const KEY = Symbol.for('analytics-outbox consent');

/**
 * What all scripts of a page share. Two of them, such as the tag and an import, have no module in common. Both see a
 * symbol on the global object, which is no global name.
 */
const registry = (): Registry =>
  ((globalThis as Record<symbol, unknown>)[KEY] ??= { turn: 0, projects: new Map() }) as Registry;

const STRICTNESS: readonly Consent[] = ['granted', 'pending', 'denied'];

/** What a call of `setConsent` says: it counts before everything said on this page so far. */
export const say = (consent: Consent): Said => ({ consent, turn: ++registry().turn });

/**
 * Joins the consent to one project's records, one value for all instances on the page: also for those of other scripts,
 * and those made later. The last `setConsent` counts. Before the first, the strictest option of any `init` counts; if
 * none was given, what `remembered` returns.
 */
export const joinConsent = (
  project: string,
  said: Said | undefined,
  option: Consent | undefined,
  remembered: () => Consent,
  follower: Follower,
) => {
  const { projects } = registry();
  const shared: Shared = projects.get(project) ?? {
    consent: option ?? remembered(),
    turn: option ? 0 : -1,
    followers: [],
  };
  projects.set(project, shared);
  const set = ({ consent, turn }: Said) => {
    shared.consent = consent;
    shared.turn = turn;
    for (const follow of shared.followers) follow(consent);
  };
  const isStricter = option && STRICTNESS.indexOf(option) >= STRICTNESS.indexOf(shared.consent);
  if (isStricter && shared.turn <= 0) set({ consent: option, turn: 0 });
  if (said && said.turn > shared.turn) set(said);
  shared.followers.push(follower);
  return {
    /** The page's consent as it is now. */
    current: (): Consent => shared.consent,
    /** Whether something was said on this page, so that a remembered denial no longer counts. */
    isGiven: (): boolean => shared.turn >= 0,
    /** Sets it for all instances of the project on this page. */
    set,
    /** Ends the calls of `follower`. */
    unfollow: (): void => {
      shared.followers = shared.followers.filter((other) => other !== follower);
    },
  };
};
