/** One timer for several times: it rings at the earliest. */
export const createAlarm = (now: () => number, ring: () => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = Infinity;
  return {
    /** Rings at this time, or earlier. */
    setBy: (time: number): void => {
      // A timer that is overdue has slept with the machine, and may go on sleeping: it is set anew.
      if (time >= timerAt && timerAt >= now()) return;
      clearTimeout(timer);
      timerAt = time;
      timer = setTimeout(() => {
        timerAt = Infinity;
        ring();
      }, time - now());
    },
    stop: (): void => {
      clearTimeout(timer);
      timerAt = Infinity;
    },
  };
};
