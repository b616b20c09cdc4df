/** One timer, for the next of several times. */
export const createAlarm = (now: () => number, ring: () => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = Infinity;
  return {
    /** At this time, or earlier. */
    setBy: (time: number): void => {
      // One that is overdue has slept with the machine, and may go on doing so.
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
