/**
 * Bounds of one profile. Without them a stranger could let a profile grow for ever, and each identify reads and writes
 * all of it. An identify that would break a bound is left out. One that does not make the profile larger passes.
 */
const LIMITS = {
  /** Of the properties as JSON. */
  characters: { most: 65_536, words: 'a profile may have 65,536 characters at the most' },
  properties: { most: 400, words: 'a profile may have 400 properties at the most' },
} as const;

/**
 * Properties, and when they were set: the time of their call, or a time for each if several calls are merged already.
 */
export interface Named {
  properties: object;
  set_at: string | Readonly<Record<string, string>>;
}

/** A profile as it is stored: JSON. */
export interface ProfileTexts {
  properties: string;
  set_at: string;
}

/**
 * Opens a profile, to merge calls into it one level deep: a value replaces the stored one whole, a key that is not
 * named stays, and `null` is a value, not a removal. Each property has the value of the latest call that named it,
 * whatever the order of arrival. Of two calls at the same time the later arrival wins.
 */
export const openProfile = (stored: ProfileTexts | undefined) => {
  const properties = entriesOf<unknown>(stored?.properties);
  const setAt = entriesOf<string>(stored?.set_at);
  /**
   * Length of the properties as JSON, or a little more: Postgres puts spaces into what it stores. It is kept up to date,
   * so that a small call costs little.
   */
  let length = stored && properties.size ? stored.properties.length : EMPTY;
  const isLonger = (longer: number): boolean => {
    const { most } = LIMITS.characters;
    if (length + longer > most) length = properties.size ? textOf(properties).length : EMPTY;
    return length + longer > most;
  };

  return {
    /** Merges a call, or returns in words which bound that would break. */
    merge: ({ properties: named, set_at }: Named, isBounded = true): string | undefined => {
      const timeOf = (name: string) => (typeof set_at === 'string' ? set_at : set_at[name]!);
      const later = Object.entries(named).filter(
        ([name]) => !(setAt.has(name) && setAt.get(name)! > timeOf(name)),
      );
      let [added, longer] = [0, 0];
      for (const [name, value] of later) {
        longer += lengthOf(value);
        if (properties.has(name)) longer -= lengthOf(properties.get(name));
        else longer += lengthOf(name) + SIGNS;
        if (!properties.has(name)) added++;
      }
      const { characters, properties: names } = LIMITS;
      if (isBounded && added > 0 && properties.size + added > names.most) return names.words;
      if (isBounded && longer > 0 && isLonger(longer)) return characters.words;
      length += longer;
      for (const [name, value] of later) {
        properties.set(name, value);
        setAt.set(name, timeOf(name));
      }
      return undefined;
    },
    texts: (): ProfileTexts => ({ properties: textOf(properties), set_at: textOf(setAt) }),
  };
};

export type OpenProfile = ReturnType<typeof openProfile>;

/** Characters of a colon and a comma, and of both braces less the comma that the last property lacks. */
const [SIGNS, EMPTY] = [2, 1];
const lengthOf = (value: unknown): number => JSON.stringify(value).length;
const entriesOf = <Value>(text = '{}') =>
  new Map(Object.entries(JSON.parse(text) as Record<string, Value>));
/** `fromEntries` makes a key named `__proto__` an ordinary one. */
const textOf = (entries: ReadonlyMap<string, unknown>): string =>
  JSON.stringify(Object.fromEntries(entries));
