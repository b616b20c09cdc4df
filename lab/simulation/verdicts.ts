import type { Check, Excuse } from './excuses.js';
import type { Tally } from './tally.js';

export type Violate = (invariant: string, message: string) => void;

/** The first that holds is the one that is used. */
export type Grounds = Partial<Record<Excuse, () => boolean>>;

/** A record or a request. */
interface Subject {
  id: string;
}

/** Decides whether what seems to break an invariant is excused, and counts the excuses. */
export const createVerdicts = (violate: Violate) => {
  const looked = new Map<Check, Set<string>>();
  const used = new Map<Excuse, Set<string>>();

  const add = <K>(map: Map<K, Set<string>>, key: K, id: string) => {
    const ids = map.get(key);
    if (ids) ids.add(id);
    else map.set(key, new Set([id]));
  };
  const sizes = (map: Map<string, Set<string>>) =>
    Object.fromEntries([...map].map(([key, { size }]) => [key, size]));
  const excuse = (name: Excuse, { id }: Subject): void => add(used, name, id);

  return {
    /** The check looks at this one. */
    look: (check: Check, { id }: Subject): void => add(looked, check, id),
    excuse,
    /** This one seems to break an invariant: a violation, unless one of the grounds holds. */
    accuse: (check: Check, subject: Subject, message: string, grounds: Grounds): void => {
      const names = Object.keys(grounds) as Excuse[];
      const name = names.find((one) => grounds[one]!());
      if (name) excuse(name, subject);
      else violate(check, message);
    },
    tally: (): Tally => ({ looked: sizes(looked), used: sizes(used) }),
  };
};

export type Verdicts = ReturnType<typeof createVerdicts>;
