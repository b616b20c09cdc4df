interface Step {
  at: number;
  run: () => void;
}

/** Everything that is going to happen, by time. Nothing in a world happens outside of it. */
export const createTimeline = () => {
  /** The next step is the last one. */
  const steps: Step[] = [];
  let time = 0;

  return {
    /** Milliseconds since the beginning. */
    now: (): number => time,
    /** Runs it this many milliseconds later, after what was to run at that time already. */
    after: (ms: number, run: () => void): void => {
      const at = time + Math.max(0, ms);
      let low = 0;
      for (let high = steps.length; low < high;) {
        const middle = (low + high) >> 1;
        if (steps[middle]!.at > at) low = middle + 1;
        else high = middle;
      }
      steps.splice(low, 0, { at, run });
    },
    /** Time of the next step; Infinity if there is none. */
    next: (): number => steps.at(-1)?.at ?? Infinity,
    step: (): void => {
      const { at, run } = steps.pop()!;
      time = at;
      run();
    },
  };
};

export type Timeline = ReturnType<typeof createTimeline>;
