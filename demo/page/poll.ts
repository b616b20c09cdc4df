interface Effects {
  task: () => Promise<void>;
  /** Milliseconds between two runs. */
  every: number;
  /** Milliseconds from `soon` to the run, in which more may happen. */
  soon: number;
}

/** Runs a task again and again while the page is visible, one run at a time. */
export const createPoll = ({ task, every, soon }: Effects) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isWanted = false;
  let isSoon = false;

  const schedule = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), ms);
  };

  const run = async (): Promise<void> => {
    if (isRunning) {
      isWanted = true;
      return;
    }
    isRunning = true;
    isWanted = isSoon = false;
    await task();
    isRunning = false;
    if (isWanted) runSoon();
    else if (document.visibilityState === 'visible') schedule(every);
  };

  /** The first wish counts: a stream of them must not put it off for ever. */
  const runSoon = () => {
    if (isRunning) isWanted = true;
    else if (!isSoon) schedule(soon);
    isSoon = !isRunning;
  };

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') schedule(0);
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) schedule(0);
  });
  schedule(0);

  return {
    soon: runSoon,
    now: run,
  };
};
