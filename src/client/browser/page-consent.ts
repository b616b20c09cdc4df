import type { Consent } from '../types.js';

/** What was said about consent, and when: the later of two has the higher turn. */
export interface Said {
  consent: Consent;
  /** -1 for what was only remembered or assumed, 0 for an option of `init`, above 0 for `setConsent`. */
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
 * Two scripts on one page, such as the tag and an import, share no module. A symbol on the global object is
 * seen by both, and is no global name.
 */
const registry = (): Registry =>
  ((globalThis as Record<symbol, unknown>)[KEY] ??= { turn: 0, projects: new Map() }) as Registry;

const STRICTNESS: readonly Consent[] = ['granted', 'pending', 'denied'];

/** `setConsent` was called: later than everything said on this page so far. */
export const say = (consent: Consent): Said => ({ consent, turn: ++registry().turn });

/**
 * Consent of this page to one project's records: one value for all instances of the project, those of other
 * scripts and those made later too. What `setConsent` said last counts; before that, the strictest option
 * that was given; and without one, what `remembered` answers.
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
    /** Something was said about it on this page, so what was remembered no longer counts. */
    isGiven: (): boolean => shared.turn >= 0,
    /** Sets it for all instances of the project on this page. */
    set,
    /** Ends the calls of `follower`. */
    unfollow: (): void => {
      shared.followers = shared.followers.filter((other) => other !== follower);
    },
  };
};
