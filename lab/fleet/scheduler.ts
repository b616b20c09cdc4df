/** Simulated time goes in steps of this length. Jobs in one step run at the same time. */
export const TICK_MS = 10;

const NONE = -1;

type Job = (() => void) | number;

/**
 * Simulated time. A job is a function, or the number of a client that makes a call: a million of these wait
 * at once. Jobs stand in one list a tick, so that adding one costs the same however many wait.
 */
export const createScheduler = (lengthMs: number) => {
  const heads = new Int32Array(Math.ceil(lengthMs / TICK_MS) + 1).fill(NONE);
  const jobs: (Job | undefined)[] = [];
  const following: number[] = [];
  let free = NONE;
  let tick = 0;

  const at = (time: number, job: Job): number => {
    const due = Math.max(tick + 1, Math.ceil(time / TICK_MS));
    if (due >= heads.length) return NONE; // after the end
    let node = free;
    if (node === NONE) node = jobs.length;
    else free = following[node]!;
    jobs[node] = job;
    following[node] = heads[due]!;
    heads[due] = node;
    return node;
  };

  return {
    now: (): number => tick * TICK_MS,
    at,
    /** Leaves a job out, by what `at` returned; it must not have run. */
    cancel: (node: number): void => {
      if (node !== NONE) jobs[node] = undefined;
    },
    /** Runs everything to the end of time. `call` makes a client's call, `onTick` follows each tick. */
    run: async (call: (client: number) => void, onTick: () => void): Promise<void> => {
      for (; tick < heads.length; tick++) {
        const isBusy = heads[tick] !== NONE;
        for (let node = heads[tick]!; node !== NONE;) {
          const job = jobs[node];
          const next = following[node]!;
          jobs[node] = undefined;
          following[node] = free;
          free = node;
          if (typeof job === 'number') call(job);
          else job?.();
          node = next;
        }
        heads[tick] = NONE;
        onTick();
        // What the answers of this tick have set going goes on before the next.
        if (isBusy) await new Promise((done) => setImmediate(done));
      }
    },
  };
};

export type Scheduler = ReturnType<typeof createScheduler>;

/** Timers in simulated time. */
export const timersOf = ({ now, at, cancel }: Scheduler) => {
  const timers = new Map<number, number>();
  let last = 0;
  const setTimeout = <Given extends unknown[]>(
    callback: (...given: Given) => void,
    delay = 0,
    ...given: Given
  ): number => {
    const id = ++last;
    const job = () => {
      timers.delete(id);
      callback(...given);
    };
    timers.set(id, at(now() + delay, job));
    return id;
  };
  const clearTimeout = (id: number | undefined): void => {
    const node = id === undefined ? undefined : timers.get(id);
    if (node === undefined) return;
    cancel(node);
    timers.delete(id!);
  };
  return { setTimeout, clearTimeout };
};
