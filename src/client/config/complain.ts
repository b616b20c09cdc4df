/** Collects what is wrong with the options, each in words that name the option, its form on the tag, and the fix. */
export const createComplaints = () => {
  /** By option: the first problem of each is enough. */
  const problems = new Map<string, string>();

  const wrong = (name: string, problem: string): void => {
    if (!problems.has(name)) problems.set(name, `option ${formsOf(name)} ${problem}`);
  };

  return {
    wrong,
    missing: (name: string, words: string): void => wrong(name, `is missing: give ${words}`),
    /** Refuses the options if anything is wrong: all of it at once, a line each. */
    throwAny: (): void => {
      if (problems.size)
        throw new TypeError(`analytics.init: ${[...problems.values()].join('\n')}`);
    },
  };
};

export type Complaints = ReturnType<typeof createComplaints>;

/** An option as `init` knows it, and as the tag does. */
export const formsOf = (name: string): string =>
  `\`${name}\` (data-${name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase())})`;
