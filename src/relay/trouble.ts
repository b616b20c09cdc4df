/** Reports a trouble once, and again only after it is over, which is reported as well. */
export const createTrouble = <Problem extends { kind: string }>(
  tell: {
    error: (problem: Problem) => void;
    recovery: (over: { kind: Problem['kind']; lastedMs: number }) => void;
  },
  now: () => number,
) => {
  let told: { kind: Problem['kind']; since: number } | undefined;
  return {
    /** `since`: when it began, if that was before now. */
    tell: (error: Problem, since = now()): void => {
      if (!told) tell.error(error);
      told ??= { kind: error.kind, since };
    },
    healed: (): void => {
      if (told) tell.recovery({ kind: told.kind, lastedMs: now() - told.since });
      told = undefined;
    },
    isTold: (): boolean => told !== undefined,
  };
};
